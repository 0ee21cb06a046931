"""Guesses the intent of a sentence by its words, with weights learned from labelled sentences.

No language model, no state, one small file to read: about ten microseconds a sentence.
"""
