"""The composition root: builds every object and connects them. The only room that knows them all."""
