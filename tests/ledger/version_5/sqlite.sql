BEGIN TRANSACTION;
CREATE TABLE access_token (
	digest TEXT NOT NULL, 
	person TEXT NOT NULL, 
	role TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	ends_at TEXT NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE attempt (
	id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	intent_at TEXT NOT NULL, 
	request_sha256 TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	trace TEXT DEFAULT '' NOT NULL, 
	failure TEXT DEFAULT '' NOT NULL, 
	message TEXT DEFAULT '' NOT NULL, 
	reply TEXT DEFAULT '' NOT NULL, 
	finished_at TEXT DEFAULT '' NOT NULL, 
	meaning TEXT DEFAULT '' NOT NULL, 
	status INTEGER, 
	lease_id INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (document_id, n), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
INSERT INTO "attempt" VALUES(1,1,1,'R1','2026-11-21T21:16:00+05:30','1d929cd694a5a8b34ea7754ad51f4559298cb5d7106983af59678c545e61c31b','{"host":"vm","boot":"3019ee2a-795f-4a00-b527-02909053fb40","namespace":"pid:[4026531836]","pid":24974,"start":"536986"}','','','','','2026-11-21T21:16:00+05:30','accepted',200,0);
INSERT INTO "attempt" VALUES(2,2,1,'R1','2026-11-21T21:16:00+05:30','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','{"host":"vm","boot":"3019ee2a-795f-4a00-b527-02909053fb40","namespace":"pid:[4026531836]","pid":24974,"start":"536986"}','','ReadTimeout','','','2026-11-21T21:16:00+05:30','unknown',NULL,0);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	who TEXT NOT NULL, 
	address TEXT NOT NULL, 
	what TEXT NOT NULL, 
	about TEXT NOT NULL, 
	outcome TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE cancelled_number (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	number TEXT NOT NULL, 
	at TEXT NOT NULL, 
	document_id INTEGER, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
CREATE TABLE decision (
	id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	who TEXT NOT NULL, 
	what TEXT NOT NULL, 
	why TEXT NOT NULL, 
	code TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
CREATE TABLE document (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	folded_key TEXT DEFAULT '' NOT NULL, 
	generation INTEGER NOT NULL, 
	file_id INTEGER NOT NULL, 
	operation TEXT NOT NULL, 
	method TEXT NOT NULL, 
	path TEXT NOT NULL, 
	reference TEXT NOT NULL, 
	rows TEXT NOT NULL, 
	line_rows TEXT NOT NULL, 
	keep TEXT NOT NULL, 
	planned_at TEXT NOT NULL, 
	body BLOB NOT NULL, 
	body_sha256 TEXT NOT NULL, 
	state TEXT NOT NULL, 
	code TEXT DEFAULT '' NOT NULL, 
	"values" TEXT DEFAULT '' NOT NULL, 
	waits_for TEXT DEFAULT '' NOT NULL, 
	may_exist INTEGER DEFAULT '0' NOT NULL, 
	send_approved INTEGER DEFAULT '0' NOT NULL, 
	attempts INTEGER DEFAULT '0' NOT NULL, 
	checks INTEGER DEFAULT '0' NOT NULL, 
	doubt_since TEXT DEFAULT '' NOT NULL, 
	settled_at TEXT DEFAULT '' NOT NULL, 
	accepted_run TEXT DEFAULT '' NOT NULL, 
	awb_number TEXT DEFAULT '' NOT NULL, 
	order_id TEXT DEFAULT '' NOT NULL, 
	delivery_hub TEXT DEFAULT '' NOT NULL, 
	items TEXT DEFAULT '{}' NOT NULL, 
	child_awb_numbers TEXT DEFAULT '[]' NOT NULL, 
	seen INTEGER DEFAULT '0' NOT NULL, 
	baseline TEXT DEFAULT '' NOT NULL, 
	lane INTEGER DEFAULT '0' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (account, kind, "key", generation), 
	FOREIGN KEY(file_id) REFERENCES file (id)
);
INSERT INTO "document" VALUES(1,'http://service.test','order','A','a',1,1,'order.create','POST','/orders/shipment','A','[2]','[2]','{"bin": "B2"}','2026-11-21T21:15:00+05:30',X'7B22637573746F6D65725F6E616D65223A22C581C3B364C5BA20E0A486E0A4B6E0A4BE227D','1d929cd694a5a8b34ea7754ad51f4559298cb5d7106983af59678c545e61c31b','accepted','','','',0,0,1,0,'2026-11-21T21:16:00+05:30','2026-11-21T21:16:00+05:30','R1','SH-22T70ZX','','','{}','[]',0,'',44);
INSERT INTO "document" VALUES(2,'http://service.test','order','B','b',1,1,'order.create','POST','/orders/shipment','B','[3]','[3]','{"bin": "B3"}','2026-11-21T21:15:00+05:30',X'7B7D','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','in_doubt','','','',1,0,1,0,'2026-11-21T21:16:00+05:30','','','','','','{}','[]',0,'',22);
INSERT INTO "document" VALUES(3,'http://service.test','order','C','c',1,1,'order.create','POST','/orders/shipment','C','[4]','[4]','{"bin": "B4"}','2026-11-21T21:15:00+05:30',X'7B7D','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','planned','','','',0,0,0,0,'','','','','','','{}','[]',0,'',0);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	received_at TEXT NOT NULL, 
	identity TEXT NOT NULL, 
	topic TEXT NOT NULL, 
	waybill TEXT NOT NULL, 
	order_status TEXT NOT NULL, 
	status_at TEXT NOT NULL, 
	zone_assumed INTEGER NOT NULL, 
	unreadable TEXT NOT NULL, 
	seen INTEGER NOT NULL, 
	raw BLOB NOT NULL, 
	content TEXT NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT event_identity UNIQUE (account, identity, content)
);
CREATE TABLE evidence (
	id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	at TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
CREATE TABLE exception (
	series TEXT NOT NULL, 
	exception_id TEXT NOT NULL, 
	standing TEXT NOT NULL, 
	first_seen TEXT NOT NULL, 
	last_seen TEXT NOT NULL, 
	gone_since TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	comment TEXT NOT NULL, 
	status TEXT NOT NULL, 
	accepted TEXT NOT NULL, 
	facts TEXT NOT NULL, 
	PRIMARY KEY (series, exception_id)
);
CREATE TABLE exception_change (
	id INTEGER NOT NULL, 
	reconciliation_id INTEGER NOT NULL, 
	exception_id TEXT NOT NULL, 
	standing TEXT NOT NULL, 
	code TEXT NOT NULL, 
	qty_affected TEXT NOT NULL, 
	impact_inr TEXT NOT NULL, 
	owner TEXT NOT NULL, 
	comment TEXT NOT NULL, 
	status TEXT NOT NULL, 
	accepted TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(reconciliation_id) REFERENCES reconciliation (id)
);
CREATE TABLE feed (
	account TEXT NOT NULL, 
	job TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	orders INTEGER NOT NULL, 
	up_to INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	made_at TEXT NOT NULL, 
	delivered_at TEXT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (account, job, number)
);
CREATE TABLE file (
	id INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	name TEXT NOT NULL, 
	format TEXT NOT NULL, 
	mapping TEXT NOT NULL, 
	mapping_digest TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	received_at TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	origin TEXT DEFAULT '{}' NOT NULL, 
	sheet TEXT DEFAULT '' NOT NULL, 
	lines_sheet TEXT DEFAULT '' NOT NULL, 
	header_row INTEGER DEFAULT '0' NOT NULL, 
	lines_header_row INTEGER DEFAULT '0' NOT NULL, 
	rows_read INTEGER DEFAULT '0' NOT NULL, 
	state TEXT NOT NULL, 
	notes TEXT DEFAULT '[]' NOT NULL, 
	earlier_file TEXT DEFAULT '' NOT NULL, 
	stale INTEGER DEFAULT '0' NOT NULL, 
	code TEXT DEFAULT '' NOT NULL, 
	"values" TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run_id, sha256, name), 
	FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "file" VALUES(1,'R1','b7bd51f335a48f49117d2c704a62c67ab56aeaf91a501009e8f80a300824de0a','orders.csv','csv','orders','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','order.create','2026-11-21T21:15:00+05:30',82,'{}','orders','',1,0,4,'planned','[]','',1,'','');
CREATE TABLE held_file (
	file_id INTEGER NOT NULL, 
	run_id TEXT NOT NULL, 
	job TEXT NOT NULL, 
	since TEXT NOT NULL, 
	stem TEXT NOT NULL, 
	identity TEXT NOT NULL, 
	over_at TEXT DEFAULT '' NOT NULL, 
	over_by TEXT DEFAULT '' NOT NULL, 
	over_why TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (file_id), 
	FOREIGN KEY(file_id) REFERENCES file (id)
);
CREATE TABLE issue (
	id INTEGER NOT NULL, 
	file_id INTEGER NOT NULL, 
	sheet TEXT NOT NULL, 
	"column" TEXT NOT NULL, 
	cell TEXT NOT NULL, 
	value TEXT NOT NULL, 
	"row" INTEGER NOT NULL, 
	code TEXT DEFAULT '' NOT NULL, 
	"values" TEXT DEFAULT '' NOT NULL, 
	field TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(file_id) REFERENCES file (id)
);
INSERT INTO "issue" VALUES(1,1,'','Phone','B5','12',5,'mobile.in_own_words','{"reason":"Too short.","remedy":"Write ten digits."}','customer_mobile');
CREATE TABLE label (
	awb_number TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	fetched_at TEXT NOT NULL, 
	pages INTEGER NOT NULL, 
	PRIMARY KEY (awb_number)
);
CREATE TABLE lane (
	account TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	lease_id INTEGER NOT NULL, 
	PRIMARY KEY (account, number)
);
CREATE TABLE lease (
	id INTEGER NOT NULL, 
	account TEXT NOT NULL, 
	process TEXT NOT NULL, 
	run TEXT NOT NULL, 
	until BIGINT NOT NULL, 
	clock_ahead INTEGER NOT NULL, 
	keeps_schedule INTEGER DEFAULT '0' NOT NULL, 
	version TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE left_file (
	job TEXT NOT NULL, 
	identity TEXT NOT NULL, 
	name TEXT NOT NULL, 
	code TEXT NOT NULL, 
	"values" TEXT NOT NULL, 
	since TEXT NOT NULL, 
	PRIMARY KEY (job, identity)
);
CREATE TABLE meta (
	name TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','5');
INSERT INTO "meta" VALUES('epoch','cf835caa440b47cd');
INSERT INTO "meta" VALUES('seq','6');
CREATE TABLE notice (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	job TEXT NOT NULL, 
	business_date TEXT NOT NULL, 
	since TEXT NOT NULL, 
	last_seen TEXT NOT NULL, 
	title TEXT NOT NULL, 
	text TEXT NOT NULL, 
	wanted INTEGER NOT NULL, 
	seen INTEGER DEFAULT '1' NOT NULL, 
	over_at TEXT DEFAULT '' NOT NULL, 
	over_text TEXT DEFAULT '' NOT NULL, 
	owed INTEGER NOT NULL, 
	told TEXT DEFAULT '{}' NOT NULL, 
	over_told TEXT DEFAULT '{}' NOT NULL, 
	tries INTEGER DEFAULT '0' NOT NULL, 
	next_try_at TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	CONSTRAINT notice_once UNIQUE ("key", over_at)
);
CREATE TABLE order_state (
	document_id INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	status_at TEXT NOT NULL, 
	source TEXT NOT NULL, 
	shown TEXT NOT NULL, 
	code TEXT NOT NULL, 
	"values" TEXT NOT NULL, 
	asked_at TEXT NOT NULL, 
	hint_status TEXT NOT NULL, 
	hint_at TEXT NOT NULL, 
	event_id INTEGER NOT NULL, 
	change INTEGER NOT NULL, 
	PRIMARY KEY (document_id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
CREATE TABLE person (
	name TEXT NOT NULL, 
	role TEXT NOT NULL, 
	since TEXT NOT NULL, 
	secret TEXT DEFAULT '' NOT NULL, 
	link TEXT DEFAULT '' NOT NULL, 
	link_until TEXT DEFAULT '' NOT NULL, 
	ended_at TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (name)
);
CREATE TABLE print_line (
	id INTEGER NOT NULL, 
	bundle_id TEXT NOT NULL, 
	awb_number TEXT NOT NULL, 
	at TEXT NOT NULL, 
	copy INTEGER NOT NULL, 
	reason TEXT DEFAULT '' NOT NULL, 
	who TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (awb_number, copy)
);
CREATE TABLE reconciliation (
	id INTEGER NOT NULL, 
	series TEXT NOT NULL, 
	run TEXT NOT NULL, 
	business_date TEXT NOT NULL, 
	figures TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (series, run)
);
CREATE TABLE result_name (
	place TEXT NOT NULL, 
	name TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	PRIMARY KEY (place, name)
);
CREATE TABLE "row" (
	file_id INTEGER NOT NULL, 
	sheet TEXT NOT NULL, 
	"row" INTEGER NOT NULL, 
	document_id INTEGER, 
	fate TEXT DEFAULT '' NOT NULL, 
	"key" TEXT DEFAULT '' NOT NULL, 
	code TEXT DEFAULT '' NOT NULL, 
	"values" TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (file_id, sheet, "row"), 
	FOREIGN KEY(file_id) REFERENCES file (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
INSERT INTO "row" VALUES(1,'',2,1,'','A','','');
INSERT INTO "row" VALUES(1,'',3,2,'','B','','');
INSERT INTO "row" VALUES(1,'',4,3,'','C','','');
INSERT INTO "row" VALUES(1,'',5,NULL,'invalid','','','');
CREATE TABLE run (
	id TEXT NOT NULL, 
	job TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	business_date TEXT NOT NULL, 
	state TEXT NOT NULL, 
	stopped TEXT DEFAULT '' NOT NULL, 
	exit_code INTEGER, 
	summary TEXT DEFAULT '{}' NOT NULL, 
	started_at TEXT NOT NULL, 
	finished_at TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "run" VALUES('R1','nightly','push','2026-11-21','finished','',4,'{"accepted":1,"in_doubt":1}','2026-11-21T21:16:00+05:30','2026-11-21T21:16:00+05:30');
CREATE TABLE run_note (
	run_id TEXT NOT NULL, 
	n INTEGER NOT NULL, 
	code TEXT NOT NULL, 
	"values" TEXT NOT NULL, 
	PRIMARY KEY (run_id, n), 
	FOREIGN KEY(run_id) REFERENCES run (id)
);
CREATE TABLE slot (
	job TEXT NOT NULL, 
	slot TEXT NOT NULL, 
	claimed_at TEXT NOT NULL, 
	business_date TEXT DEFAULT '' NOT NULL, 
	state TEXT DEFAULT '' NOT NULL, 
	owner TEXT DEFAULT '' NOT NULL, 
	alive_at TEXT DEFAULT '' NOT NULL, 
	ended_at TEXT DEFAULT '' NOT NULL, 
	exit_code INTEGER, 
	PRIMARY KEY (job, slot)
);
INSERT INTO "slot" VALUES('nightly','2026-11-21T21:15:00+05:30','2026-11-21T21:16:00+05:30','2026-11-21','claimed','{"host":"vm","boot":"3019ee2a-795f-4a00-b527-02909053fb40","namespace":"pid:[4026531836]","pid":24974,"start":"536986"}','2026-11-21T21:16:00+05:30','',NULL);
CREATE TABLE web_session (
	digest TEXT NOT NULL, 
	person TEXT NOT NULL, 
	address TEXT NOT NULL, 
	started_at TEXT NOT NULL, 
	seen_at TEXT NOT NULL, 
	PRIMARY KEY (digest)
);
CREATE TABLE web_view (
	person TEXT NOT NULL, 
	place TEXT NOT NULL, 
	name TEXT NOT NULL, 
	"query" TEXT NOT NULL, 
	PRIMARY KEY (person, place, name)
);
CREATE INDEX notice_over_at ON notice (over_at);
CREATE INDEX print_bundle ON print_line (bundle_id);
CREATE INDEX event_waybill ON event (waybill);
CREATE INDEX file_sha256 ON file (sha256);
CREATE INDEX exception_change_night ON exception_change (reconciliation_id);
CREATE INDEX document_folded_key ON document (account, kind, folded_key);
CREATE INDEX document_state ON document (state, file_id);
CREATE INDEX document_awb_number ON document (awb_number);
CREATE INDEX document_reference ON document (reference);
CREATE INDEX document_accepted_run ON document (accepted_run);
CREATE INDEX issue_file ON issue (file_id);
CREATE INDEX held_file_job ON held_file (job, over_at);
CREATE INDEX row_document ON "row" (document_id);
CREATE INDEX attempt_run ON attempt (run_id);
CREATE INDEX evidence_document ON evidence (document_id);
CREATE INDEX decision_document ON decision (document_id);
CREATE INDEX order_state_change ON order_state (change);
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document WHEN OLD.state <> NEW.state AND NOT ((OLD.state = 'planned' AND NEW.state = 'sending') OR (OLD.state = 'planned' AND NEW.state = 'accepted') OR (OLD.state = 'planned' AND NEW.state = 'held') OR (OLD.state = 'planned' AND NEW.state = 'superseded') OR (OLD.state = 'planned' AND NEW.state = 'abandoned') OR (OLD.state = 'sending' AND NEW.state = 'accepted') OR (OLD.state = 'sending' AND NEW.state = 'refused') OR (OLD.state = 'sending' AND NEW.state = 'planned') OR (OLD.state = 'sending' AND NEW.state = 'held') OR (OLD.state = 'sending' AND NEW.state = 'in_doubt') OR (OLD.state = 'in_doubt' AND NEW.state = 'accepted') OR (OLD.state = 'in_doubt' AND NEW.state = 'sending') OR (OLD.state = 'in_doubt' AND NEW.state = 'held') OR (OLD.state = 'in_doubt' AND NEW.state = 'superseded') OR (OLD.state = 'refused' AND NEW.state = 'planned') OR (OLD.state = 'held' AND NEW.state = 'accepted') OR (OLD.state = 'held' AND NEW.state = 'planned') OR (OLD.state = 'held' AND NEW.state = 'refused') OR (OLD.state = 'held' AND NEW.state = 'abandoned') OR (OLD.state = 'held' AND NEW.state = 'superseded') OR (OLD.state = 'accepted' AND NEW.state = 'in_doubt' AND NEW.operation = 'order.create' AND NEW.code IN ('mixed_up', 'mixed_up.shown') AND NEW.awb_number = '')) BEGIN SELECT RAISE(ABORT, 'illegal transition of a document'); END;
CREATE TRIGGER document_content BEFORE UPDATE OF account, kind, key, generation, body_sha256, body ON document WHEN NEW.account <> OLD.account OR NEW.kind <> OLD.kind OR NEW.key <> OLD.key OR NEW.generation <> OLD.generation OR NEW.body_sha256 <> OLD.body_sha256 OR (NEW.body <> OLD.body AND NOT (length(NEW.body) = 0 AND OLD.state IN ('accepted', 'refused', 'superseded', 'abandoned'))) BEGIN SELECT RAISE(ABORT, 'the content of a document does not change'); END;
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence WHEN NOT (NOT (NEW.id <> OLD.id OR NEW.document_id <> OLD.document_id OR NEW.at <> OLD.at OR NEW.kind <> OLD.kind) AND NEW.text = '' AND EXISTS (SELECT 1 FROM document WHERE id = OLD.document_id AND length(body) = 0)) BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER decision_update BEFORE UPDATE ON decision WHEN NOT (NOT (NEW.id <> OLD.id OR NEW.document_id <> OLD.document_id OR NEW.at <> OLD.at OR NEW.who <> OLD.who OR NEW.what <> OLD.what OR NEW.code <> OLD.code) AND NEW.why = '' AND EXISTS (SELECT 1 FROM document WHERE id = OLD.document_id AND length(body) = 0)) BEGIN SELECT RAISE(ABORT, 'decisions are append-only'); END;
CREATE TRIGGER event_update BEFORE UPDATE OF id, account, identity, received_at, topic, waybill, order_status, status_at, content, zone_assumed, unreadable ON event WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER audit_update BEFORE UPDATE ON audit WHEN NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.who <> OLD.who OR NEW.address <> OLD.address OR NEW.what <> OLD.what OR NEW.about <> OLD.about OR OLD.outcome <> '' BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER event_raw BEFORE UPDATE OF raw ON event WHEN NEW.raw <> OLD.raw AND length(NEW.raw) > 0 BEGIN SELECT RAISE(ABORT, 'the bytes of an event do not change'); END;
CREATE TRIGGER feed_update BEFORE UPDATE OF account, job, number, name, orders, up_to, sha256, made_at, content ON feed WHEN NEW.account <> OLD.account OR NEW.job <> OLD.job OR NEW.number <> OLD.number OR NEW.name <> OLD.name OR NEW.orders <> OLD.orders OR NEW.up_to <> OLD.up_to OR NEW.sha256 <> OLD.sha256 OR NEW.made_at <> OLD.made_at OR (NEW.content <> OLD.content AND NOT (length(NEW.content) = 0 AND NEW.delivered_at <> '')) BEGIN SELECT RAISE(ABORT, 'a feed does not change'); END;
CREATE TRIGGER document_delete BEFORE DELETE ON document WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'document is append-only'); END;
CREATE TRIGGER attempt_delete BEFORE DELETE ON attempt WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'attempt is append-only'); END;
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER decision_delete BEFORE DELETE ON decision WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'decision is append-only'); END;
CREATE TRIGGER event_delete BEFORE DELETE ON event WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'event is append-only'); END;
CREATE TRIGGER feed_delete BEFORE DELETE ON feed WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'feed is append-only'); END;
CREATE TRIGGER audit_delete BEFORE DELETE ON audit WHEN 1 = 1 BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
COMMIT;
