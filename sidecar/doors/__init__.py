"""Doors to the places where teams work: each turns deliveries from outside into tasks."""
