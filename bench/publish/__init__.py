"""The steward's question, may I publish this table with small cells suppressed, as a command.

Open `question` first (what is asked, and what the attackers find); `__main__` reads the command
line and prints the answer.
"""
