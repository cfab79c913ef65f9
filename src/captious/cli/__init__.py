"""The command line: one file per command, each thin (parse arguments, call the API, show)."""
