"""The syntax of files: readers that turn a text into values, each with its line."""
