"""How many deliveries and outgoing messages there were, for metrics. Triggers count, so no writer can forget to."""

# Two statements instead of an upsert: the conflict policy of the statement that fires a trigger also holds inside it.
_COUNT = """
    INSERT OR IGNORE INTO counts VALUES ('{what}', {door}, {state}, 0);
    UPDATE counts SET number = number + 1 WHERE what = '{what}' AND door = {door} AND state = {state};
"""
_ARRIVED = _COUNT.format(what="delivery", door="new.door", state="'received'")
_SETTLED = _COUNT.format(what="delivery", door="new.door", state="new.state")
_SENT = _COUNT.format(what="outgoing", door="''", state="new.state")

#: After the schemas of deliveries and outbox.
COUNTS = f"""
CREATE TABLE IF NOT EXISTS counts (
    what TEXT NOT NULL, door TEXT NOT NULL, state TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (what, door, state)
) WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS count_arrived AFTER INSERT ON deliveries BEGIN {_ARRIVED} END;
CREATE TRIGGER IF NOT EXISTS count_settled AFTER UPDATE OF state ON deliveries WHEN new.state != old.state
    BEGIN {_SETTLED} END;
CREATE TRIGGER IF NOT EXISTS count_sent AFTER UPDATE OF state ON outbox WHEN new.state != old.state BEGIN {_SENT} END;
"""
