CREATE TABLE IF NOT EXISTS orders (
    order_id INTEGER PRIMARY KEY,
    awb_number TEXT NOT NULL UNIQUE,
    reference_number TEXT NOT NULL,
    status TEXT NOT NULL,
    delivery_hub TEXT NOT NULL,
    delivery_hub_sn TEXT NOT NULL,
    pickup_hub TEXT NOT NULL DEFAULT '',
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    modified_at TEXT NOT NULL);
CREATE UNIQUE INDEX IF NOT EXISTS one_live_order_per_reference ON orders (reference_number) WHERE status <> 'cancelled';
CREATE INDEX IF NOT EXISTS orders_by_reference ON orders (reference_number);
CREATE TABLE IF NOT EXISTS items (
    order_id INTEGER NOT NULL REFERENCES orders,
    item_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    kit TEXT,
    body TEXT NOT NULL,
    weight_unit TEXT NOT NULL,
    picked NUMERIC NOT NULL DEFAULT 0,
    delivered NUMERIC NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, item_id));
CREATE TABLE IF NOT EXISTS packages (
    child_awb_number TEXT PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders,
    position INTEGER NOT NULL,
    package_id TEXT);
CREATE INDEX IF NOT EXISTS packages_by_order ON packages (order_id);
CREATE TABLE IF NOT EXISTS asns (
    asn_id INTEGER PRIMARY KEY,
    invoice_number TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at TEXT NOT NULL,
    modified_at TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS asns_by_invoice ON asns (invoice_number);
CREATE TABLE IF NOT EXISTS webhooks (
    webhook_id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    active INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS event_deliveries (
    delivery_id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL,
    awb_number TEXT NOT NULL,
    payload TEXT NOT NULL,
    queued_at TEXT NOT NULL,
    due_at REAL NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'waiting',
    log TEXT NOT NULL DEFAULT '[]');
CREATE INDEX IF NOT EXISTS waiting_deliveries
    ON event_deliveries (webhook_id, awb_number, delivery_id) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS due_deliveries
    ON event_deliveries (webhook_id, due_at, delivery_id) WHERE state = 'waiting';
CREATE TABLE IF NOT EXISTS labels (
    label_id INTEGER PRIMARY KEY AUTOINCREMENT,
    pages TEXT NOT NULL,
    created_at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS numbers (name TEXT PRIMARY KEY, last INTEGER NOT NULL);
INSERT OR IGNORE INTO numbers (name, last) VALUES ('orders', 0), ('items', 0), ('asns', 0);
CREATE TABLE IF NOT EXISTS late_acts (
    late_act_id INTEGER PRIMARY KEY AUTOINCREMENT,
    due_at REAL NOT NULL,
    request INTEGER,
    endpoint TEXT NOT NULL,
    content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS effects (
    effect_id INTEGER PRIMARY KEY AUTOINCREMENT,
    request INTEGER,
    effect TEXT NOT NULL,
    details TEXT NOT NULL);
