"""How the shipped word vectors are made; nothing here runs when captions are scored."""
