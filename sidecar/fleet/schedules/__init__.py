"""Schedules: tasks that start by themselves, from files that only you write."""
