PRAGMA auto_vacuum = INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE blob_uses (
            task INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (task, digest)
        ) WITHOUT ROWID
        ;
INSERT INTO "blob_uses" VALUES(3,'87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7');
CREATE TABLE blobs (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO "blobs" VALUES('87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7',2,X'78014BE4020000CE006C');
CREATE TABLE commits (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO "commits" VALUES(1,68);
CREATE TABLE events (
            task INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID
        ;
INSERT INTO "events" VALUES(1,1,'2026-11-16T05:03:51.665Z','{"type":"status","status":"queued"}',2810241431);
INSERT INTO "events" VALUES(1,2,'2026-11-16T05:03:51.665Z','{"type":"message","messageId":"t_61dbe1c0891066f12e47.asked","role":"user","agent":"","text":"list the files"}',3053077787);
INSERT INTO "events" VALUES(1,3,'2026-11-16T05:03:51.700Z','{"type":"status","status":"running"}',862728005);
INSERT INTO "events" VALUES(1,4,'2026-11-16T05:03:51.704Z','{"type":"route","intent":"explain_code","confidence":0.95,"pipeline":["coder"],"why":"it asks about the code and for no change (“list”)"}',2492289096);
INSERT INTO "events" VALUES(1,5,'2026-11-16T05:03:51.720Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',873117932);
INSERT INTO "events" VALUES(1,6,'2026-11-16T05:03:51.728Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',1783704791);
INSERT INTO "events" VALUES(1,7,'2026-11-16T05:03:51.753Z','{"type":"tool","callId":"t_61dbe1c0891066f12e47.r1.1-coder.0.0","tool":"list_dir","status":"running","args":{"path":"."},"summary":"path=.","durationMs":0.0,"cached":false,"executor":"local"}',3119526945);
INSERT INTO "events" VALUES(1,8,'2026-11-16T05:03:51.756Z','{"type":"tool","callId":"t_61dbe1c0891066f12e47.r1.1-coder.0.0","tool":"list_dir","status":"success","args":{"path":"."},"summary":"1 entries in .","durationMs":2.864,"cached":false,"executor":"local","details":{"entries":[{"path":"needle.txt","kind":"file"}]}}',1198122458);
INSERT INTO "events" VALUES(1,9,'2026-11-16T05:03:51.774Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt"}',3595698711);
INSERT INTO "events" VALUES(1,10,'2026-11-16T05:03:51.792Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',3808726610);
INSERT INTO "events" VALUES(1,11,'2026-11-16T05:03:51.796Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',2210237256);
INSERT INTO "events" VALUES(1,12,'2026-11-16T05:03:51.796Z','{"type":"complete","result":{"summary":"needle.txt","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',30780537);
INSERT INTO "events" VALUES(1,13,'2026-11-16T05:03:51.796Z','{"type":"status","status":"completed"}',1585703628);
INSERT INTO "events" VALUES(1,14,'2026-11-16T05:03:51.801Z','{"type":"message","messageId":"m_7bd515529a18dbaa","role":"user","agent":"","text":"search for needle"}',17154345);
INSERT INTO "events" VALUES(1,15,'2026-11-16T05:03:51.801Z','{"type":"status","status":"queued","reason":"continued by a message"}',3609234759);
INSERT INTO "events" VALUES(1,16,'2026-11-16T05:03:51.802Z','{"type":"status","status":"running"}',1995660735);
INSERT INTO "events" VALUES(1,17,'2026-11-16T05:03:51.803Z','{"type":"route","intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks about the code and for no change (“search”)"}',3136018235);
INSERT INTO "events" VALUES(1,18,'2026-11-16T05:03:51.805Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',1280496450);
INSERT INTO "events" VALUES(1,19,'2026-11-16T05:03:51.805Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',4146179052);
INSERT INTO "events" VALUES(1,20,'2026-11-16T05:03:51.806Z','{"type":"tool","callId":"t_61dbe1c0891066f12e47.r2.1-coder.0.0","tool":"search_code","status":"running","args":{"query":"needle"},"summary":"query=needle","durationMs":0.0,"cached":false,"executor":"local"}',986977586);
INSERT INTO "events" VALUES(1,21,'2026-11-16T05:03:51.811Z','{"type":"tool","callId":"t_61dbe1c0891066f12e47.r2.1-coder.0.0","tool":"search_code","status":"success","args":{"query":"needle"},"summary":"1 matches in 1 files","durationMs":4.578,"cached":false,"executor":"local","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]}}',1947078484);
INSERT INTO "events" VALUES(1,22,'2026-11-16T05:03:51.811Z','{"type":"message","messageId":"r2.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt:1: a needle"}',2495727770);
INSERT INTO "events" VALUES(1,23,'2026-11-16T05:03:51.812Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',1637363963);
INSERT INTO "events" VALUES(1,24,'2026-11-16T05:03:51.812Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1229399940);
INSERT INTO "events" VALUES(1,25,'2026-11-16T05:03:51.812Z','{"type":"complete","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1823997365);
INSERT INTO "events" VALUES(1,26,'2026-11-16T05:03:51.812Z','{"type":"status","status":"completed"}',446884806);
INSERT INTO "events" VALUES(2,1,'2026-11-16T05:03:51.815Z','{"type":"status","status":"queued"}',3125032294);
INSERT INTO "events" VALUES(2,2,'2026-11-16T05:03:51.815Z','{"type":"message","messageId":"t_79130869a45187809dcd.asked","role":"user","agent":"","text":"ponder the meaning of life"}',1566943603);
INSERT INTO "events" VALUES(2,3,'2026-11-16T05:03:51.816Z','{"type":"status","status":"running"}',954394397);
INSERT INTO "events" VALUES(2,4,'2026-11-16T05:03:51.817Z','{"type":"route","intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',812859330);
INSERT INTO "events" VALUES(2,5,'2026-11-16T05:03:51.818Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',1380936826);
INSERT INTO "events" VALUES(2,6,'2026-11-16T05:03:51.818Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',980269495);
INSERT INTO "events" VALUES(2,7,'2026-11-16T05:03:51.818Z','{"type":"message","messageId":"r1.1-coder.0","role":"assistant","agent":"coder","text":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',667308925);
INSERT INTO "events" VALUES(2,8,'2026-11-16T05:03:51.819Z','{"type":"step","step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","agent":"coder","state":"failed"}',2043295245);
INSERT INTO "events" VALUES(2,9,'2026-11-16T05:03:51.819Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1882848630);
INSERT INTO "events" VALUES(2,10,'2026-11-16T05:03:51.819Z','{"type":"error","code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true}',1089695776);
INSERT INTO "events" VALUES(2,11,'2026-11-16T05:03:51.819Z','{"type":"status","status":"failed","reason":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',3752870056);
INSERT INTO "events" VALUES(3,1,'2026-11-16T05:03:51.823Z','{"type":"status","status":"queued"}',4061079891);
INSERT INTO "events" VALUES(3,2,'2026-11-16T05:03:51.823Z','{"type":"message","messageId":"t_130eddfec83902b0a7fd.asked","role":"user","agent":"","text":"write it"}',1487376250);
INSERT INTO "events" VALUES(3,3,'2026-11-16T05:03:51.824Z','{"type":"status","status":"running"}',2404139207);
INSERT INTO "events" VALUES(3,4,'2026-11-16T05:03:51.825Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',2112834709);
INSERT INTO "events" VALUES(3,5,'2026-11-16T05:03:51.826Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"started"}',4176591040);
INSERT INTO "events" VALUES(3,6,'2026-11-16T05:03:51.827Z','{"type":"model","role":"smart","provider":"scripted","model":"write"}',650517304);
INSERT INTO "events" VALUES(3,7,'2026-11-16T05:03:51.831Z','{"type":"tool","callId":"t_130eddfec83902b0a7fd.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"a.txt","content":"a\n"},"summary":"path=a.txt content=a\n","durationMs":0.0,"cached":false,"executor":"local"}',2952280571);
INSERT INTO "events" VALUES(3,8,'2026-11-16T05:03:51.834Z','{"type":"tool","callId":"t_130eddfec83902b0a7fd.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"a.txt","content":"a\n"},"summary":"created a.txt","durationMs":4.988,"cached":false,"executor":"local","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]}}',1351258546);
INSERT INTO "events" VALUES(3,9,'2026-11-16T05:03:51.834Z','{"type":"diff","files":[{"path":"a.txt","change":"created","added":1,"removed":0}]}',460961236);
INSERT INTO "events" VALUES(3,10,'2026-11-16T05:03:51.834Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"written"}',1634543873);
INSERT INTO "events" VALUES(3,11,'2026-11-16T05:03:51.835Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"completed"}',291376955);
INSERT INTO "events" VALUES(3,12,'2026-11-16T05:03:51.835Z','{"type":"handoff","from":"coder","to":"reviewer","context":{"filesModified":["a.txt"],"currentState":"written","remainingTasks":["reviewer"]},"reason":"The coder is done; the reviewer goes on."}',1965399531);
INSERT INTO "events" VALUES(3,13,'2026-11-16T05:03:51.836Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"started"}',855703439);
INSERT INTO "events" VALUES(3,14,'2026-11-16T05:03:51.836Z','{"type":"model","role":"fast","provider":"scripted","model":"write"}',662917902);
INSERT INTO "events" VALUES(3,15,'2026-11-16T05:03:51.836Z','{"type":"message","messageId":"r1.2-reviewer.0","role":"assistant","agent":"reviewer","text":"fine"}',1455318033);
INSERT INTO "events" VALUES(3,16,'2026-11-16T05:03:51.837Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"completed"}',1307570301);
INSERT INTO "events" VALUES(3,17,'2026-11-16T05:03:51.837Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',3804291356);
INSERT INTO "events" VALUES(3,18,'2026-11-16T05:03:51.837Z','{"type":"complete","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',3851388423);
INSERT INTO "events" VALUES(3,19,'2026-11-16T05:03:51.837Z','{"type":"status","status":"completed"}',2097887996);
INSERT INTO "events" VALUES(4,1,'2026-11-16T05:03:51.842Z','{"type":"status","status":"queued"}',62974726);
INSERT INTO "events" VALUES(4,2,'2026-11-16T05:03:51.842Z','{"type":"message","messageId":"t_b5dfd89fd65f1d3a37d2.asked","role":"user","agent":"","text":"x"}',1835152521);
INSERT INTO "events" VALUES(4,3,'2026-11-16T05:03:51.842Z','{"type":"status","status":"running"}',2792496736);
INSERT INTO "events" VALUES(4,4,'2026-11-16T05:03:51.844Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',3981452234);
INSERT INTO "events" VALUES(4,5,'2026-11-16T05:03:51.844Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3290939463);
INSERT INTO "events" VALUES(4,6,'2026-11-16T05:03:51.845Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',934121754);
INSERT INTO "events" VALUES(4,7,'2026-11-16T05:03:51.852Z','{"type":"tool","callId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',1726437872);
INSERT INTO "events" VALUES(4,8,'2026-11-16T05:03:51.852Z','{"type":"approval","approvalId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0:approve","callId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpi7wga4d4/workspace","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',2741464699);
INSERT INTO "events" VALUES(4,9,'2026-11-16T05:03:51.853Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',2505443074);
INSERT INTO "events" VALUES(4,10,'2026-11-16T05:03:51.855Z','{"type":"status","status":"cancelling"}',817519533);
INSERT INTO "events" VALUES(4,11,'2026-11-16T05:03:51.855Z','{"type":"tool","callId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0","tool":"run_command","status":"cancelled","args":{"command":"true"},"summary":"cancelled","durationMs":9.146,"cached":false,"executor":"local"}',3520767320);
INSERT INTO "events" VALUES(4,12,'2026-11-16T05:03:51.856Z','{"type":"cancelled","killed":[],"effects":[]}',3208874244);
INSERT INTO "events" VALUES(4,13,'2026-11-16T05:03:51.856Z','{"type":"status","status":"cancelled"}',3525070429);
INSERT INTO "events" VALUES(5,1,'2026-11-16T05:03:51.860Z','{"type":"status","status":"queued"}',1588724177);
INSERT INTO "events" VALUES(5,2,'2026-11-16T05:03:51.860Z','{"type":"message","messageId":"t_cd0d3397ce7840f23a80.asked","role":"user","agent":"","text":"x"}',3936228057);
INSERT INTO "events" VALUES(5,3,'2026-11-16T05:03:51.861Z','{"type":"status","status":"running"}',4027654228);
INSERT INTO "events" VALUES(5,4,'2026-11-16T05:03:51.861Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',331742944);
INSERT INTO "events" VALUES(5,5,'2026-11-16T05:03:51.864Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3131412659);
INSERT INTO "events" VALUES(5,6,'2026-11-16T05:03:51.864Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',2907667667);
INSERT INTO "events" VALUES(5,7,'2026-11-16T05:03:51.865Z','{"type":"tool","callId":"t_cd0d3397ce7840f23a80.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',1043337577);
INSERT INTO "events" VALUES(5,8,'2026-11-16T05:03:51.865Z','{"type":"approval","approvalId":"t_cd0d3397ce7840f23a80.r1.1-terminal.0.0:approve","callId":"t_cd0d3397ce7840f23a80.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpi7wga4d4/workspace","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',952337740);
INSERT INTO "events" VALUES(5,9,'2026-11-16T05:03:51.866Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',2363624677);
CREATE TABLE records (
            task INTEGER NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            number INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, kind, key)
        ) WITHOUT ROWID
        ;
INSERT INTO "records" VALUES(1,'message','m_7bd515529a18dbaa',6,15,'{"id":"m_7bd515529a18dbaa","text":"search for needle","opens":true}',713253482);
INSERT INTO "records" VALUES(1,'outcome','t_61dbe1c0891066f12e47.r1.1-coder.0.0',2,8,'{"status":"success","content":"needle.txt","details":{"entries":[{"path":"needle.txt","kind":"file"}]},"summary":"1 entries in .","durationMs":2.864,"cached":false,"executor":"local"}',673984354);
INSERT INTO "records" VALUES(1,'outcome','t_61dbe1c0891066f12e47.r2.1-coder.0.0',9,21,'{"status":"success","content":"needle.txt:1: a needle","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]},"summary":"1 matches in 1 files","durationMs":4.578,"cached":false,"executor":"local"}',335340301);
INSERT INTO "records" VALUES(1,'round','1',5,13,'{"asked":"list the files","answered":"needle.txt"}',3219210813);
INSERT INTO "records" VALUES(1,'round','2',12,26,'{"asked":"search for needle","answered":"needle.txt:1: a needle"}',2576306736);
INSERT INTO "records" VALUES(1,'step','r1.1-coder',4,10,'needle.txt',3979621100);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"list_dir","args":{"path":"."}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3660646253);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.1',3,9,'{"heard":[],"reply":{"text":"needle.txt","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3118689086);
INSERT INTO "records" VALUES(1,'step','r1.route',0,4,'{"intent":"explain_code","confidence":0.95,"pipeline":["coder"],"why":"it asks about the code and for no change (“list”)"}',3459946493);
INSERT INTO "records" VALUES(1,'step','r2.1-coder',11,23,'needle.txt:1: a needle',3364763246);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.0',8,20,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"search_code","args":{"query":"needle"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',983574101);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.1',10,22,'{"heard":[],"reply":{"text":"needle.txt:1: a needle","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3301573152);
INSERT INTO "records" VALUES(1,'step','r2.route',7,17,'{"intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks about the code and for no change (“search”)"}',860750230);
INSERT INTO "records" VALUES(2,'step','r1.route',0,4,'{"intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',2546223811);
INSERT INTO "records" VALUES(3,'intent','t_130eddfec83902b0a7fd.r1.1-coder.0.0',3,7,'{"tool":"write_file","args":{"path":"a.txt","content":"a\n"},"site":"local","files":[{"path":"a.txt","before":null,"after":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","mode":null}]}',2018686056);
INSERT INTO "records" VALUES(3,'outcome','t_130eddfec83902b0a7fd.r1.1-coder.0.0',4,9,'{"status":"success","content":"Created a.txt (+1 −0)","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]},"summary":"created a.txt","durationMs":4.988,"cached":false,"executor":"local"}',428343486);
INSERT INTO "records" VALUES(3,'round','1',9,19,'{"asked":"write it","answered":"fine"}',323861974);
INSERT INTO "records" VALUES(3,'step','r1.1-coder',6,12,'written',744407726);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"a.txt","content":"a\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',2553809205);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.1',5,10,'{"heard":[],"reply":{"text":"written","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',1138489729);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer',8,16,'fine',432809626);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer.0',7,15,'{"heard":[],"reply":{"text":"fine","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',2819419894);
INSERT INTO "records" VALUES(3,'step','r1.context',1,7,'Workspace: /tmp/tmpi7wga4d4/workspace

Files:
needle.txt',3656339152);
INSERT INTO "records" VALUES(3,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',1732157450);
INSERT INTO "records" VALUES(4,'approval','t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0:approve',3,8,'{"type":"approval","approvalId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0:approve","callId":"t_b5dfd89fd65f1d3a37d2.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpi7wga4d4/workspace","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',2458730445);
INSERT INTO "records" VALUES(4,'step','r1.1-terminal.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',1845094757);
INSERT INTO "records" VALUES(4,'step','r1.context',1,7,'Workspace: /tmp/tmpi7wga4d4/workspace

Files:
a.txt
needle.txt',3870819819);
INSERT INTO "records" VALUES(4,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',1071661863);
INSERT INTO "records" VALUES(5,'approval','t_cd0d3397ce7840f23a80.r1.1-terminal.0.0:approve',3,8,'{"type":"approval","approvalId":"t_cd0d3397ce7840f23a80.r1.1-terminal.0.0:approve","callId":"t_cd0d3397ce7840f23a80.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpi7wga4d4/workspace","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',3549263722);
INSERT INTO "records" VALUES(5,'step','r1.1-terminal.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',1845094757);
INSERT INTO "records" VALUES(5,'step','r1.context',1,7,'Workspace: /tmp/tmpi7wga4d4/workspace

Files:
a.txt
needle.txt',3870819819);
INSERT INTO "records" VALUES(5,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',1071661863);
CREATE TABLE tasks (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            created_at TEXT NOT NULL,
            conversation TEXT NOT NULL,
            idempotency_key TEXT UNIQUE,
            priority INTEGER NOT NULL,
            request TEXT NOT NULL,
            request_checksum INTEGER NOT NULL,
            status TEXT NOT NULL,
            state TEXT NOT NULL,
            state_checksum INTEGER NOT NULL,
            queued INTEGER NOT NULL,
            fence INTEGER NOT NULL DEFAULT 0,
            lease_owner TEXT,
            lease_until REAL
        );
INSERT INTO "tasks" VALUES(1,'t_61dbe1c0891066f12e47','2026-11-16T05:03:51.665Z','c_3dd91cd086b6a6be20d8',NULL,1,'{"task":"list the files","workspace":"/tmp/tmpi7wga4d4/workspace","conversationId":"c_3dd91cd086b6a6be20d8","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',3645028466,'completed','{"status":"completed","intent":"explain_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"Reads and changes code."},"startedAt":"2026-11-16T05:03:51.700Z","endedAt":"2026-11-16T05:03:51.812Z","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',2653413846,2,2,NULL,NULL);
INSERT INTO "tasks" VALUES(2,'t_79130869a45187809dcd','2026-11-16T05:03:51.815Z','c_7bc0b220a4dbdb93da01',NULL,1,'{"task":"ponder the meaning of life","workspace":"/tmp/tmpi7wga4d4/workspace","conversationId":"c_7bc0b220a4dbdb93da01","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2049298191,'failed','{"status":"failed","intent":"chat","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."},"startedAt":"2026-11-16T05:03:51.816Z","endedAt":"2026-11-16T05:03:51.819Z","result":null,"error":{"code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true},"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4090435121,3,1,NULL,NULL);
INSERT INTO "tasks" VALUES(3,'t_130eddfec83902b0a7fd','2026-11-16T05:03:51.823Z','c_22587c29c4b16626128e',NULL,1,'{"task":"write it","workspace":"/tmp/tmpi7wga4d4/workspace","conversationId":"c_22587c29c4b16626128e","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":null,"models":{"fast":"scripted/write","smart":"scripted/write","instant":"scripted/write"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',1853844070,'completed','{"status":"completed","intent":"edit_code","pipeline":["coder","reviewer"],"progress":{"step":2,"total":2,"message":"Looks at a change and says what is wrong with it."},"startedAt":"2026-11-16T05:03:51.824Z","endedAt":"2026-11-16T05:03:51.837Z","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',241057245,4,1,NULL,NULL);
INSERT INTO "tasks" VALUES(4,'t_b5dfd89fd65f1d3a37d2','2026-11-16T05:03:51.842Z','c_1d2c88177d13d5efd070',NULL,1,'{"task":"x","workspace":"/tmp/tmpi7wga4d4/workspace","conversationId":"c_1d2c88177d13d5efd070","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2416693628,'cancelled','{"status":"cancelled","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T05:03:51.842Z","endedAt":"2026-11-16T05:03:51.856Z","result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',741204392,5,1,NULL,NULL);
INSERT INTO "tasks" VALUES(5,'t_cd0d3397ce7840f23a80','2026-11-16T05:03:51.860Z','c_3a64d0679b0658ac7a88',NULL,1,'{"task":"x","workspace":"/tmp/tmpi7wga4d4/workspace","conversationId":"c_3a64d0679b0658ac7a88","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',479703377,'waiting','{"status":"waiting","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T05:03:51.861Z","endedAt":null,"result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4226057343,6,1,'16399-2990c5d8',7289.465178075);
CREATE INDEX tasks_queue ON tasks (status, priority, queued);
CREATE INDEX tasks_conversation ON tasks (conversation, position);
CREATE INDEX records_undo ON records (task) WHERE kind = 'undo';
CREATE INDEX blob_uses_digest ON blob_uses (digest);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tasks',5);
COMMIT;
PRAGMA user_version = 1;
