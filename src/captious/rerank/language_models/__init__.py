"""Language models of captions, one file for each kind."""
