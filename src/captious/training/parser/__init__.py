"""How the shipped parser is made and judged; nothing here runs when captions are scored."""
