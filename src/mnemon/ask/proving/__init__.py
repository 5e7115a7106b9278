"""Answers as files that prove themselves: to those who have neither the database nor Mnemon."""
