"""Training and evaluation of the shipped parser. Nothing here runs when captions are scored."""
