"""What a measure is, which there are, and what they are given; the measures themselves live in their own rooms."""
