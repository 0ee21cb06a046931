"""Chats: Slack and Telegram. A thread is a conversation; buttons answer approvals and questions."""
