"""From a sentence to an intent by lexical features: its clauses, the verb at the head of each, what the verb is about.

No model, no I/O and no state: plain functions over words, some ten microseconds a sentence.
"""
