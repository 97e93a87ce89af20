"""What pages of HTML are made of: tables and pictures."""
