"""The syntax of files: a text as the values that it says, each with its line."""
