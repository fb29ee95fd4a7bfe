"""Reading of files, and errors about what a user wrote."""
