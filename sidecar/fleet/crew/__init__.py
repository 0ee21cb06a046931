"""Crews: a goal becomes a plan, its parts become tasks of specialists, and what passes its checks is merged."""
