"""Programs that run a client library by lines of JSON, one folder for each language."""
