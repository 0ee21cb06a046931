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
INSERT INTO "commits" VALUES(1,62);
CREATE TABLE events (
            task INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID
        ;
INSERT INTO "events" VALUES(1,1,'2026-11-16T04:52:24.963Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(1,2,'2026-11-16T04:52:24.963Z','{"type":"message","messageId":"t_85dd628aea221c8405dc.asked","role":"user","agent":"","text":"list the files"}',2055528773);
INSERT INTO "events" VALUES(1,3,'2026-11-16T04:52:25.028Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(1,4,'2026-11-16T04:52:25.032Z','{"type":"route","intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',929664169);
INSERT INTO "events" VALUES(1,5,'2026-11-16T04:52:25.055Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(1,6,'2026-11-16T04:52:25.062Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(1,7,'2026-11-16T04:52:25.075Z','{"type":"tool","callId":"t_85dd628aea221c8405dc.r1.1-coder.0.0","tool":"list_dir","status":"running","args":{"path":"."},"summary":"path=.","durationMs":0.0,"cached":false,"executor":"local"}',3038926458);
INSERT INTO "events" VALUES(1,8,'2026-11-16T04:52:25.076Z','{"type":"tool","callId":"t_85dd628aea221c8405dc.r1.1-coder.0.0","tool":"list_dir","status":"success","args":{"path":"."},"summary":"1 entries in .","durationMs":2.05,"cached":false,"executor":"local","details":{"entries":[{"path":"needle.txt","kind":"file"}]}}',3317891885);
INSERT INTO "events" VALUES(1,9,'2026-11-16T04:52:25.078Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt"}',4029104863);
INSERT INTO "events" VALUES(1,10,'2026-11-16T04:52:25.079Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',1788072272);
INSERT INTO "events" VALUES(1,11,'2026-11-16T04:52:25.080Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(1,12,'2026-11-16T04:52:25.080Z','{"type":"complete","result":{"summary":"needle.txt","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1306759147);
INSERT INTO "events" VALUES(1,13,'2026-11-16T04:52:25.080Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(1,14,'2026-11-16T04:52:25.085Z','{"type":"message","messageId":"m_e8aaf8b0bd592ace","role":"user","agent":"","text":"search for needle"}',1764883334);
INSERT INTO "events" VALUES(1,15,'2026-11-16T04:52:25.085Z','{"type":"status","status":"queued","reason":"continued by a message"}',49524346);
INSERT INTO "events" VALUES(1,16,'2026-11-16T04:52:25.087Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(1,17,'2026-11-16T04:52:25.088Z','{"type":"route","intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',929664169);
INSERT INTO "events" VALUES(1,18,'2026-11-16T04:52:25.089Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(1,19,'2026-11-16T04:52:25.089Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(1,20,'2026-11-16T04:52:25.091Z','{"type":"tool","callId":"t_85dd628aea221c8405dc.r2.1-coder.0.0","tool":"search_code","status":"running","args":{"query":"needle"},"summary":"query=needle","durationMs":0.0,"cached":false,"executor":"local"}',1808955385);
INSERT INTO "events" VALUES(1,21,'2026-11-16T04:52:25.099Z','{"type":"tool","callId":"t_85dd628aea221c8405dc.r2.1-coder.0.0","tool":"search_code","status":"success","args":{"query":"needle"},"summary":"1 matches in 1 files","durationMs":8.355,"cached":false,"executor":"local","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]}}',2065859474);
INSERT INTO "events" VALUES(1,22,'2026-11-16T04:52:25.100Z','{"type":"message","messageId":"r2.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt:1: a needle"}',3972177403);
INSERT INTO "events" VALUES(1,23,'2026-11-16T04:52:25.101Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',1788072272);
INSERT INTO "events" VALUES(1,24,'2026-11-16T04:52:25.103Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(1,25,'2026-11-16T04:52:25.103Z','{"type":"complete","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1693712578);
INSERT INTO "events" VALUES(1,26,'2026-11-16T04:52:25.103Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(2,1,'2026-11-16T04:52:25.106Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(2,2,'2026-11-16T04:52:25.106Z','{"type":"message","messageId":"t_30fcaa835c9c6bfc280e.asked","role":"user","agent":"","text":"ponder the meaning of life"}',500224101);
INSERT INTO "events" VALUES(2,3,'2026-11-16T04:52:25.107Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(2,4,'2026-11-16T04:52:25.107Z','{"type":"route","intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',135338711);
INSERT INTO "events" VALUES(2,5,'2026-11-16T04:52:25.108Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(2,6,'2026-11-16T04:52:25.108Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(2,7,'2026-11-16T04:52:25.109Z','{"type":"message","messageId":"r1.1-coder.0","role":"assistant","agent":"coder","text":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',1119128228);
INSERT INTO "events" VALUES(2,8,'2026-11-16T04:52:25.110Z','{"type":"step","step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","agent":"coder","state":"failed"}',2284695206);
INSERT INTO "events" VALUES(2,9,'2026-11-16T04:52:25.110Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(2,10,'2026-11-16T04:52:25.110Z','{"type":"error","code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true}',1759972151);
INSERT INTO "events" VALUES(2,11,'2026-11-16T04:52:25.110Z','{"type":"status","status":"failed","reason":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',1077409556);
INSERT INTO "events" VALUES(3,1,'2026-11-16T04:52:25.114Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(3,2,'2026-11-16T04:52:25.114Z','{"type":"message","messageId":"t_1c359f0c45516533abfa.asked","role":"user","agent":"","text":"write it"}',441311821);
INSERT INTO "events" VALUES(3,3,'2026-11-16T04:52:25.115Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(3,4,'2026-11-16T04:52:25.115Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',4176211998);
INSERT INTO "events" VALUES(3,5,'2026-11-16T04:52:25.116Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"started"}',4107725061);
INSERT INTO "events" VALUES(3,6,'2026-11-16T04:52:25.117Z','{"type":"model","role":"smart","provider":"scripted","model":"write"}',2502255522);
INSERT INTO "events" VALUES(3,7,'2026-11-16T04:52:25.121Z','{"type":"tool","callId":"t_1c359f0c45516533abfa.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"a.txt","content":"a\n"},"summary":"path=a.txt content=a\n","durationMs":0.0,"cached":false,"executor":"local"}',1824151499);
INSERT INTO "events" VALUES(3,8,'2026-11-16T04:52:25.127Z','{"type":"tool","callId":"t_1c359f0c45516533abfa.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"a.txt","content":"a\n"},"summary":"created a.txt","durationMs":9.1,"cached":false,"executor":"local","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]}}',756265131);
INSERT INTO "events" VALUES(3,9,'2026-11-16T04:52:25.127Z','{"type":"diff","files":[{"path":"a.txt","change":"created","added":1,"removed":0}]}',3964319289);
INSERT INTO "events" VALUES(3,10,'2026-11-16T04:52:25.128Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"written"}',2814165828);
INSERT INTO "events" VALUES(3,11,'2026-11-16T04:52:25.129Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"completed"}',2553476348);
INSERT INTO "events" VALUES(3,12,'2026-11-16T04:52:25.129Z','{"type":"handoff","from":"coder","to":"reviewer","context":{"filesModified":["a.txt"],"currentState":"written","remainingTasks":["reviewer"]},"reason":"The coder is done; the reviewer goes on."}',3660558975);
INSERT INTO "events" VALUES(3,13,'2026-11-16T04:52:25.129Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"started"}',1245781706);
INSERT INTO "events" VALUES(3,14,'2026-11-16T04:52:25.129Z','{"type":"model","role":"fast","provider":"scripted","model":"write"}',3602082442);
INSERT INTO "events" VALUES(3,15,'2026-11-16T04:52:25.130Z','{"type":"message","messageId":"r1.2-reviewer.0","role":"assistant","agent":"reviewer","text":"fine"}',1679653198);
INSERT INTO "events" VALUES(3,16,'2026-11-16T04:52:25.130Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"completed"}',4153009749);
INSERT INTO "events" VALUES(3,17,'2026-11-16T04:52:25.131Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(3,18,'2026-11-16T04:52:25.131Z','{"type":"complete","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1371918080);
INSERT INTO "events" VALUES(3,19,'2026-11-16T04:52:25.131Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(4,1,'2026-11-16T04:52:25.133Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(4,2,'2026-11-16T04:52:25.133Z','{"type":"message","messageId":"t_e7028bf9b11c4a4cae5e.asked","role":"user","agent":"","text":"x"}',1665765304);
INSERT INTO "events" VALUES(4,3,'2026-11-16T04:52:25.134Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(4,4,'2026-11-16T04:52:25.136Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',4114904383);
INSERT INTO "events" VALUES(4,5,'2026-11-16T04:52:25.137Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3600134437);
INSERT INTO "events" VALUES(4,6,'2026-11-16T04:52:25.137Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',1578338830);
INSERT INTO "events" VALUES(4,7,'2026-11-16T04:52:25.138Z','{"type":"tool","callId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',805584938);
INSERT INTO "events" VALUES(4,8,'2026-11-16T04:52:25.138Z','{"type":"approval","approvalId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0:approve","callId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpm_mupcto/workspace","why":"a command may do anything that you may","state":"requested"}',131937340);
INSERT INTO "events" VALUES(4,9,'2026-11-16T04:52:25.138Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',3693556270);
INSERT INTO "events" VALUES(4,10,'2026-11-16T04:52:25.141Z','{"type":"status","status":"cancelling"}',2751427628);
INSERT INTO "events" VALUES(4,11,'2026-11-16T04:52:25.141Z','{"type":"tool","callId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0","tool":"run_command","status":"cancelled","args":{"command":"true"},"summary":"cancelled","durationMs":3.417,"cached":false,"executor":"local"}',3043882235);
INSERT INTO "events" VALUES(4,12,'2026-11-16T04:52:25.141Z','{"type":"cancelled","killed":[],"effects":[]}',1014197614);
INSERT INTO "events" VALUES(4,13,'2026-11-16T04:52:25.141Z','{"type":"status","status":"cancelled"}',2105927026);
INSERT INTO "events" VALUES(5,1,'2026-11-16T04:52:25.145Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(5,2,'2026-11-16T04:52:25.145Z','{"type":"message","messageId":"t_46f1c510b971eb4284d7.asked","role":"user","agent":"","text":"x"}',2553013422);
INSERT INTO "events" VALUES(5,3,'2026-11-16T04:52:25.147Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(5,4,'2026-11-16T04:52:25.147Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',4114904383);
INSERT INTO "events" VALUES(5,5,'2026-11-16T04:52:25.148Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3600134437);
INSERT INTO "events" VALUES(5,6,'2026-11-16T04:52:25.148Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',1578338830);
INSERT INTO "events" VALUES(5,7,'2026-11-16T04:52:25.150Z','{"type":"tool","callId":"t_46f1c510b971eb4284d7.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',1897146726);
INSERT INTO "events" VALUES(5,8,'2026-11-16T04:52:25.150Z','{"type":"approval","approvalId":"t_46f1c510b971eb4284d7.r1.1-terminal.0.0:approve","callId":"t_46f1c510b971eb4284d7.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpm_mupcto/workspace","why":"a command may do anything that you may","state":"requested"}',2861352441);
INSERT INTO "events" VALUES(5,9,'2026-11-16T04:52:25.151Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',3693556270);
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
INSERT INTO "records" VALUES(1,'message','m_e8aaf8b0bd592ace',6,15,'{"id":"m_e8aaf8b0bd592ace","text":"search for needle","opens":true}',2854191181);
INSERT INTO "records" VALUES(1,'outcome','t_85dd628aea221c8405dc.r1.1-coder.0.0',2,8,'{"status":"success","content":"needle.txt","details":{"entries":[{"path":"needle.txt","kind":"file"}]},"summary":"1 entries in .","durationMs":2.05,"cached":false,"executor":"local"}',4227707696);
INSERT INTO "records" VALUES(1,'outcome','t_85dd628aea221c8405dc.r2.1-coder.0.0',9,21,'{"status":"success","content":"needle.txt:1: a needle","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]},"summary":"1 matches in 1 files","durationMs":8.355,"cached":false,"executor":"local"}',1975877384);
INSERT INTO "records" VALUES(1,'round','1',5,13,'{"asked":"list the files","answered":"needle.txt"}',2420839151);
INSERT INTO "records" VALUES(1,'round','2',12,26,'{"asked":"search for needle","answered":"needle.txt:1: a needle"}',3644938833);
INSERT INTO "records" VALUES(1,'step','r1.1-coder',4,10,'needle.txt',1356674865);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"list_dir","args":{"path":"."}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',361206079);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.1',3,9,'{"heard":[],"reply":{"text":"needle.txt","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3875385191);
INSERT INTO "records" VALUES(1,'step','r1.route',0,4,'{"intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',839599066);
INSERT INTO "records" VALUES(1,'step','r2.1-coder',11,23,'needle.txt:1: a needle',3221858272);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.0',8,20,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"search_code","args":{"query":"needle"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',2356278812);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.1',10,22,'{"heard":[],"reply":{"text":"needle.txt:1: a needle","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3391090332);
INSERT INTO "records" VALUES(1,'step','r2.route',7,17,'{"intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',839599066);
INSERT INTO "records" VALUES(2,'step','r1.route',0,4,'{"intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',2301199904);
INSERT INTO "records" VALUES(3,'intent','t_1c359f0c45516533abfa.r1.1-coder.0.0',2,7,'{"tool":"write_file","args":{"path":"a.txt","content":"a\n"},"site":"local","files":[{"path":"a.txt","before":null,"after":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","mode":null}]}',2423267746);
INSERT INTO "records" VALUES(3,'outcome','t_1c359f0c45516533abfa.r1.1-coder.0.0',3,9,'{"status":"success","content":"Created a.txt (+1 −0)","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]},"summary":"created a.txt","durationMs":9.1,"cached":false,"executor":"local"}',468793999);
INSERT INTO "records" VALUES(3,'round','1',8,19,'{"asked":"write it","answered":"fine"}',4288468984);
INSERT INTO "records" VALUES(3,'step','r1.1-coder',5,12,'written',1666100439);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"a.txt","content":"a\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3688212443);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.1',4,10,'{"heard":[],"reply":{"text":"written","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',100201697);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer',7,16,'fine',3198768274);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer.0',6,15,'{"heard":[],"reply":{"text":"fine","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',2202432427);
INSERT INTO "records" VALUES(3,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',2043899113);
INSERT INTO "records" VALUES(4,'approval','t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0:approve',2,8,'{"type":"approval","approvalId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0:approve","callId":"t_e7028bf9b11c4a4cae5e.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpm_mupcto/workspace","why":"a command may do anything that you may","state":"requested"}',131937340);
INSERT INTO "records" VALUES(4,'step','r1.1-terminal.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3632008572);
INSERT INTO "records" VALUES(4,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',2672286385);
INSERT INTO "records" VALUES(5,'approval','t_46f1c510b971eb4284d7.r1.1-terminal.0.0:approve',2,8,'{"type":"approval","approvalId":"t_46f1c510b971eb4284d7.r1.1-terminal.0.0:approve","callId":"t_46f1c510b971eb4284d7.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpm_mupcto/workspace","why":"a command may do anything that you may","state":"requested"}',2861352441);
INSERT INTO "records" VALUES(5,'step','r1.1-terminal.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0}',3632008572);
INSERT INTO "records" VALUES(5,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',2672286385);
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
INSERT INTO "tasks" VALUES(1,'t_85dd628aea221c8405dc','2026-11-16T04:52:24.963Z','c_991c53bd2130c3e2ac65',NULL,1,'{"task":"list the files","workspace":"/tmp/tmpm_mupcto/workspace","conversationId":"c_991c53bd2130c3e2ac65","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',3205616571,'completed','{"status":"completed","intent":"explain_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"Reads and changes code."},"startedAt":"2026-11-16T04:52:25.028Z","endedAt":"2026-11-16T04:52:25.103Z","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4084875465,2,2,NULL,NULL);
INSERT INTO "tasks" VALUES(2,'t_30fcaa835c9c6bfc280e','2026-11-16T04:52:25.106Z','c_7652af7e2e5e166e1d6d',NULL,1,'{"task":"ponder the meaning of life","workspace":"/tmp/tmpm_mupcto/workspace","conversationId":"c_7652af7e2e5e166e1d6d","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',57946288,'failed','{"status":"failed","intent":"chat","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."},"startedAt":"2026-11-16T04:52:25.107Z","endedAt":"2026-11-16T04:52:25.110Z","result":null,"error":{"code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true},"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',1451680256,3,1,NULL,NULL);
INSERT INTO "tasks" VALUES(3,'t_1c359f0c45516533abfa','2026-11-16T04:52:25.114Z','c_f30049fad863a7707bb7',NULL,1,'{"task":"write it","workspace":"/tmp/tmpm_mupcto/workspace","conversationId":"c_f30049fad863a7707bb7","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":null,"models":{"fast":"scripted/write","smart":"scripted/write","instant":"scripted/write"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',870402263,'completed','{"status":"completed","intent":"edit_code","pipeline":["coder","reviewer"],"progress":{"step":2,"total":2,"message":"Looks at a change and says what is wrong with it."},"startedAt":"2026-11-16T04:52:25.115Z","endedAt":"2026-11-16T04:52:25.131Z","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',2479875314,4,1,NULL,NULL);
INSERT INTO "tasks" VALUES(4,'t_e7028bf9b11c4a4cae5e','2026-11-16T04:52:25.133Z','c_4467a88901da2888da40',NULL,1,'{"task":"x","workspace":"/tmp/tmpm_mupcto/workspace","conversationId":"c_4467a88901da2888da40","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',246361664,'cancelled','{"status":"cancelled","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T04:52:25.134Z","endedAt":"2026-11-16T04:52:25.141Z","result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4095100086,5,1,NULL,NULL);
INSERT INTO "tasks" VALUES(5,'t_46f1c510b971eb4284d7','2026-11-16T04:52:25.145Z','c_2518aa761b5a00d27a22',NULL,1,'{"task":"x","workspace":"/tmp/tmpm_mupcto/workspace","conversationId":"c_2518aa761b5a00d27a22","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2968321705,'waiting','{"status":"waiting","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T04:52:25.147Z","endedAt":null,"result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',14903228,6,1,'7615-113f1e2f',6602.751638027);
CREATE INDEX tasks_queue ON tasks (status, priority, queued);
CREATE INDEX tasks_conversation ON tasks (conversation, position);
CREATE INDEX records_undo ON records (task) WHERE kind = 'undo';
CREATE INDEX blob_uses_digest ON blob_uses (digest);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tasks',5);
COMMIT;
PRAGMA user_version = 1;
