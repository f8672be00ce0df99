BEGIN TRANSACTION;
CREATE TABLE attempt (
	id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	n INTEGER NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	owner TEXT NOT NULL, 
	intent_at VARCHAR(40) NOT NULL, 
	request_sha256 VARCHAR(64) NOT NULL, 
	trace TEXT NOT NULL, 
	status INTEGER, 
	failure VARCHAR(40) NOT NULL, 
	meaning VARCHAR(20) NOT NULL, 
	message TEXT NOT NULL, 
	reply TEXT NOT NULL, 
	finished_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (document_id, n), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
INSERT INTO "attempt" VALUES(1,1,1,'R1','{"host":"vm","pid":27948,"boot":"e22926cc-7ed9-4baf-93db-9f86b1865f14"}','2026-11-21T21:16:00+05:30','ef0c0e1112e8983203caa0ba697fcae69d3a93ee9946484a3968b456fc4e803b','',200,'','accepted','','{"status":"PASS"}','2026-11-21T21:16:00+05:30');
INSERT INTO "attempt" VALUES(2,2,1,'R1','{"host":"vm","pid":27948,"boot":"e22926cc-7ed9-4baf-93db-9f86b1865f14"}','2026-11-21T21:16:00+05:30','eb8ed3ccb5023093b56f490a46501e88d09736687e609fdbc1c71b3df8b9ccd3','',NULL,'ReadTimeout','unknown','','','2026-11-21T21:16:00+05:30');
CREATE TABLE document (
	id INTEGER NOT NULL, 
	account VARCHAR(200) NOT NULL, 
	kind VARCHAR(12) NOT NULL, 
	"key" TEXT NOT NULL, 
	generation INTEGER NOT NULL, 
	operation VARCHAR(24) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	method VARCHAR(8) NOT NULL, 
	path TEXT NOT NULL, 
	body BLOB NOT NULL, 
	body_sha256 VARCHAR(64) NOT NULL, 
	reference TEXT NOT NULL, 
	file_id INTEGER NOT NULL, 
	rows TEXT NOT NULL, 
	line_rows TEXT NOT NULL, 
	keep TEXT NOT NULL, 
	rule VARCHAR(40) NOT NULL, 
	reason TEXT NOT NULL, 
	fix TEXT NOT NULL, 
	awb_number VARCHAR(80) NOT NULL, 
	order_id VARCHAR(80) NOT NULL, 
	delivery_hub TEXT NOT NULL, 
	items TEXT NOT NULL, 
	child_awb_numbers TEXT NOT NULL, 
	accepted_run VARCHAR(40) NOT NULL, 
	doubt_since VARCHAR(40) NOT NULL, 
	attempts INTEGER NOT NULL, 
	checks INTEGER NOT NULL, 
	tainted INTEGER NOT NULL, 
	released INTEGER NOT NULL, 
	baseline TEXT NOT NULL, 
	planned_at VARCHAR(40) NOT NULL, 
	settled_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (account, kind, "key", generation), 
	FOREIGN KEY(file_id) REFERENCES file (id)
);
INSERT INTO "document" VALUES(1,'http://service.test','order','A',1,'order.create','accepted','POST','/orders/shipment',X'7B227265666572656E63655F6E756D626572223A2241222C226E616D65223A22C581C3B364C5BA20E0A486E0A4B6E0A4BE227D','ef0c0e1112e8983203caa0ba697fcae69d3a93ee9946484a3968b456fc4e803b','A',1,'[2]','[2]','{"bin":"B2"}','','','','SH-22T70ZX','77','','{"9":{"item_name":"SKU","item_quantity":2}}','[]','R1','2026-11-21T21:16:00+05:30',1,0,0,0,'','2026-11-21T21:15:00+05:30','2026-11-21T21:16:00+05:30');
INSERT INTO "document" VALUES(2,'http://service.test','order','B',1,'order.create','in_doubt','POST','/orders/shipment',X'7B2262223A317D','eb8ed3ccb5023093b56f490a46501e88d09736687e609fdbc1c71b3df8b9ccd3','B',1,'[3]','[3]','{"bin":"B3"}','','','','','','','{}','[]','','2026-11-21T21:16:00+05:30',1,0,1,0,'','2026-11-21T21:15:00+05:30','');
INSERT INTO "document" VALUES(3,'http://service.test','order','C',1,'order.create','planned','POST','/orders/shipment',X'7B2263223A2269742773227D','6935e12d16a7b18e4d4366e6bb031dd242e32b2a0a2b2efeeae981dca2ccafe8','C',1,'[4]','[4]','{"bin":"B4"}','','','','','','','{}','[]','','',0,0,0,0,'','2026-11-21T21:15:00+05:30','');
CREATE TABLE evidence (
	id INTEGER NOT NULL, 
	document_id INTEGER NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	kind VARCHAR(24) NOT NULL, 
	who TEXT NOT NULL, 
	text TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
INSERT INTO "evidence" VALUES(1,1,'2026-11-21T21:16:00+05:30','by_hand','','looked at by hand');
CREATE TABLE file (
	id INTEGER NOT NULL, 
	run_id VARCHAR(40) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	name TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	format VARCHAR(8) NOT NULL, 
	mapping TEXT NOT NULL, 
	mapping_digest VARCHAR(64) NOT NULL, 
	operation VARCHAR(24) NOT NULL, 
	origin TEXT NOT NULL, 
	sheet TEXT NOT NULL, 
	header_row INTEGER NOT NULL, 
	rows_read INTEGER NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	rule VARCHAR(80) NOT NULL, 
	reason TEXT NOT NULL, 
	remedy TEXT NOT NULL, 
	notes TEXT NOT NULL, 
	earlier_file TEXT NOT NULL, 
	received_at VARCHAR(40) NOT NULL, 
	stale INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (run_id, sha256, name), 
	FOREIGN KEY(run_id) REFERENCES run (id)
);
INSERT INTO "file" VALUES(1,'R1','ddca8051117b0fa7ba14409401c2349a22ec12840c98c2f44d4ad9435321dca1','orders.csv',112,'csv','orders','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','order.create','{}','orders',1,4,'planned','','','','[]','','2026-11-21T21:15:00+05:30',1);
INSERT INTO "file" VALUES(2,'R1','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a','broken.csv',14,'csv','orders','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','order.create','{}','orders',1,0,'planned','unreadable','Not a sheet.','Save it again.','[]','','2026-11-21T21:15:00+05:30',0);
CREATE TABLE issue (
	id INTEGER NOT NULL, 
	file_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	rule VARCHAR(120) NOT NULL, 
	"column" TEXT NOT NULL, 
	cell VARCHAR(16) NOT NULL, 
	value TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	fix TEXT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(file_id) REFERENCES file (id)
);
INSERT INTO "issue" VALUES(1,1,5,'customer_mobile|mobile','Phone','B5','12','Too short.','Write ten digits.');
CREATE TABLE label (
	awb_number VARCHAR(80) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	pages INTEGER NOT NULL, 
	fetched_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (awb_number)
);
CREATE TABLE meta (
	name VARCHAR(64) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "meta" VALUES('schema_version','1');
CREATE TABLE print_line (
	id INTEGER NOT NULL, 
	bundle_id VARCHAR(60) NOT NULL, 
	awb_number VARCHAR(80) NOT NULL, 
	copy INTEGER NOT NULL, 
	reason TEXT NOT NULL, 
	who TEXT NOT NULL, 
	at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (awb_number, copy)
);
CREATE TABLE result_name (
	place VARCHAR(400) NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	PRIMARY KEY (place, name)
);
INSERT INTO "result_name" VALUES('folder:/out:/','orders','aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa');
CREATE TABLE "row" (
	file_id INTEGER NOT NULL, 
	"row" INTEGER NOT NULL, 
	document_id INTEGER, 
	fate VARCHAR(12) NOT NULL, 
	"key" TEXT NOT NULL, 
	rule VARCHAR(120) NOT NULL, 
	reason TEXT NOT NULL, 
	PRIMARY KEY (file_id, "row"), 
	FOREIGN KEY(file_id) REFERENCES file (id), 
	FOREIGN KEY(document_id) REFERENCES document (id)
);
INSERT INTO "row" VALUES(1,2,1,'','A','','');
INSERT INTO "row" VALUES(1,3,2,'','B','','');
INSERT INTO "row" VALUES(1,4,3,'','C','','');
INSERT INTO "row" VALUES(1,5,NULL,'invalid','','','');
CREATE TABLE run (
	id VARCHAR(40) NOT NULL, 
	job VARCHAR(200) NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	business_date VARCHAR(10) NOT NULL, 
	state VARCHAR(12) NOT NULL, 
	stopped TEXT NOT NULL, 
	exit_code INTEGER, 
	summary TEXT NOT NULL, 
	started_at VARCHAR(40) NOT NULL, 
	finished_at VARCHAR(40), 
	PRIMARY KEY (id)
);
INSERT INTO "run" VALUES('R1','nightly','push','2026-11-21','finished','',4,'{"accepted":1,"in_doubt":1}','2026-11-21T21:16:00+05:30','2026-11-21T21:16:00+05:30');
CREATE TABLE slot (
	job VARCHAR(200) NOT NULL, 
	slot VARCHAR(64) NOT NULL, 
	claimed_at VARCHAR(40) NOT NULL, 
	PRIMARY KEY (job, slot)
);
INSERT INTO "slot" VALUES('nightly','2026-11-21T21:15:00+05:30','2026-11-21T21:16:00+05:30');
CREATE INDEX print_bundle ON print_line (bundle_id);
CREATE INDEX file_sha256 ON file (sha256);
CREATE INDEX document_state ON document (state);
CREATE INDEX document_reference ON document (reference);
CREATE INDEX issue_file ON issue (file_id);
CREATE INDEX row_document ON "row" (document_id);
CREATE TRIGGER document_transition BEFORE UPDATE OF state ON document WHEN OLD.state <> NEW.state AND NOT ((OLD.state = 'planned' AND NEW.state = 'abandoned') OR (OLD.state = 'planned' AND NEW.state = 'held') OR (OLD.state = 'planned' AND NEW.state = 'sending') OR (OLD.state = 'planned' AND NEW.state = 'superseded') OR (OLD.state = 'sending' AND NEW.state = 'accepted') OR (OLD.state = 'sending' AND NEW.state = 'held') OR (OLD.state = 'sending' AND NEW.state = 'in_doubt') OR (OLD.state = 'sending' AND NEW.state = 'planned') OR (OLD.state = 'sending' AND NEW.state = 'refused') OR (OLD.state = 'in_doubt' AND NEW.state = 'accepted') OR (OLD.state = 'in_doubt' AND NEW.state = 'held') OR (OLD.state = 'in_doubt' AND NEW.state = 'sending') OR (OLD.state = 'refused' AND NEW.state = 'abandoned') OR (OLD.state = 'refused' AND NEW.state = 'planned') OR (OLD.state = 'held' AND NEW.state = 'abandoned') OR (OLD.state = 'held' AND NEW.state = 'accepted') OR (OLD.state = 'held' AND NEW.state = 'planned') OR (OLD.state = 'held' AND NEW.state = 'superseded'))
BEGIN SELECT RAISE(ABORT, 'illegal transition of a document'); END;
CREATE TRIGGER evidence_update BEFORE UPDATE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
CREATE TRIGGER evidence_delete BEFORE DELETE ON evidence
BEGIN SELECT RAISE(ABORT, 'evidence is append-only'); END;
COMMIT;
