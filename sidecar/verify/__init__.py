"""Agents claim; here it is checked: what a change is held against, what a failure teaches, who is told in the end."""
