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
INSERT INTO "commits" VALUES(1,63);
CREATE TABLE events (
            task INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID
        ;
INSERT INTO "events" VALUES(1,1,'2026-11-16T04:31:29.550Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(1,2,'2026-11-16T04:31:29.550Z','{"type":"message","messageId":"t_e9788890b84fa6cba6bf.asked","role":"user","agent":"","text":"list the files"}',3407657364);
INSERT INTO "events" VALUES(1,3,'2026-11-16T04:31:29.570Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(1,4,'2026-11-16T04:31:29.572Z','{"type":"route","intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',929664169);
INSERT INTO "events" VALUES(1,5,'2026-11-16T04:31:29.573Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(1,6,'2026-11-16T04:31:29.580Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(1,7,'2026-11-16T04:31:29.629Z','{"type":"tool","callId":"t_e9788890b84fa6cba6bf.r1.1-coder.0.0","tool":"list_dir","status":"running","args":{"path":"."},"summary":"path=.","durationMs":0.0,"cached":false,"executor":"local"}',1611248498);
INSERT INTO "events" VALUES(1,8,'2026-11-16T04:31:29.630Z','{"type":"tool","callId":"t_e9788890b84fa6cba6bf.r1.1-coder.0.0","tool":"list_dir","status":"success","args":{"path":"."},"summary":"1 entries in .","durationMs":3.01,"cached":false,"executor":"local","details":{"entries":[{"path":"needle.txt","kind":"file"}]}}',2482676496);
INSERT INTO "events" VALUES(1,9,'2026-11-16T04:31:29.632Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt"}',4029104863);
INSERT INTO "events" VALUES(1,10,'2026-11-16T04:31:29.633Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',1788072272);
INSERT INTO "events" VALUES(1,11,'2026-11-16T04:31:29.634Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(1,12,'2026-11-16T04:31:29.634Z','{"type":"complete","result":{"summary":"needle.txt","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1306759147);
INSERT INTO "events" VALUES(1,13,'2026-11-16T04:31:29.634Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(1,14,'2026-11-16T04:31:29.639Z','{"type":"message","messageId":"m_3c6f8c7013d91514","role":"user","agent":"","text":"search for needle"}',1438526589);
INSERT INTO "events" VALUES(1,15,'2026-11-16T04:31:29.639Z','{"type":"status","status":"queued","reason":"continued by a message"}',49524346);
INSERT INTO "events" VALUES(1,16,'2026-11-16T04:31:29.640Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(1,17,'2026-11-16T04:31:29.641Z','{"type":"route","intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',929664169);
INSERT INTO "events" VALUES(1,18,'2026-11-16T04:31:29.641Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(1,19,'2026-11-16T04:31:29.641Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(1,20,'2026-11-16T04:31:29.642Z','{"type":"tool","callId":"t_e9788890b84fa6cba6bf.r2.1-coder.0.0","tool":"search_code","status":"running","args":{"query":"needle"},"summary":"query=needle","durationMs":0.0,"cached":false,"executor":"local"}',3221095282);
INSERT INTO "events" VALUES(1,21,'2026-11-16T04:31:29.655Z','{"type":"tool","callId":"t_e9788890b84fa6cba6bf.r2.1-coder.0.0","tool":"search_code","status":"success","args":{"query":"needle"},"summary":"1 matches in 1 files","durationMs":13.417,"cached":false,"executor":"local","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]}}',3086260838);
INSERT INTO "events" VALUES(1,22,'2026-11-16T04:31:29.656Z','{"type":"message","messageId":"r2.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt:1: a needle"}',3972177403);
INSERT INTO "events" VALUES(1,23,'2026-11-16T04:31:29.657Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"completed"}',1788072272);
INSERT INTO "events" VALUES(1,24,'2026-11-16T04:31:29.657Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(1,25,'2026-11-16T04:31:29.657Z','{"type":"complete","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1693712578);
INSERT INTO "events" VALUES(1,26,'2026-11-16T04:31:29.657Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(2,1,'2026-11-16T04:31:29.661Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(2,2,'2026-11-16T04:31:29.661Z','{"type":"message","messageId":"t_7b66a8c114b616a2ce3d.asked","role":"user","agent":"","text":"ponder the meaning of life"}',2808265193);
INSERT INTO "events" VALUES(2,3,'2026-11-16T04:31:29.662Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(2,4,'2026-11-16T04:31:29.663Z','{"type":"route","intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',135338711);
INSERT INTO "events" VALUES(2,5,'2026-11-16T04:31:29.663Z','{"type":"step","step":1,"total":1,"message":"Reads and changes code.","agent":"coder","state":"started"}',3719961592);
INSERT INTO "events" VALUES(2,6,'2026-11-16T04:31:29.663Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2588280300);
INSERT INTO "events" VALUES(2,7,'2026-11-16T04:31:29.664Z','{"type":"message","messageId":"r1.1-coder.0","role":"assistant","agent":"coder","text":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',1119128228);
INSERT INTO "events" VALUES(2,8,'2026-11-16T04:31:29.666Z','{"type":"step","step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","agent":"coder","state":"failed"}',2284695206);
INSERT INTO "events" VALUES(2,9,'2026-11-16T04:31:29.666Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(2,10,'2026-11-16T04:31:29.666Z','{"type":"error","code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true}',1759972151);
INSERT INTO "events" VALUES(2,11,'2026-11-16T04:31:29.666Z','{"type":"status","status":"failed","reason":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."}',1077409556);
INSERT INTO "events" VALUES(3,1,'2026-11-16T04:31:29.670Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(3,2,'2026-11-16T04:31:29.670Z','{"type":"message","messageId":"t_fba7e3fd7c9b8a6a9320.asked","role":"user","agent":"","text":"write it"}',2340016118);
INSERT INTO "events" VALUES(3,3,'2026-11-16T04:31:29.672Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(3,4,'2026-11-16T04:31:29.672Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',4176211998);
INSERT INTO "events" VALUES(3,5,'2026-11-16T04:31:29.673Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"started"}',4107725061);
INSERT INTO "events" VALUES(3,6,'2026-11-16T04:31:29.674Z','{"type":"model","role":"smart","provider":"scripted","model":"write"}',2502255522);
INSERT INTO "events" VALUES(3,7,'2026-11-16T04:31:29.679Z','{"type":"tool","callId":"t_fba7e3fd7c9b8a6a9320.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"a.txt","content":"a\n"},"summary":"path=a.txt content=a\n","durationMs":0.0,"cached":false,"executor":"local"}',1115060160);
INSERT INTO "events" VALUES(3,8,'2026-11-16T04:31:29.685Z','{"type":"tool","callId":"t_fba7e3fd7c9b8a6a9320.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"a.txt","content":"a\n"},"summary":"created a.txt","durationMs":8.177,"cached":false,"executor":"local","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]}}',3296345075);
INSERT INTO "events" VALUES(3,9,'2026-11-16T04:31:29.685Z','{"type":"diff","files":[{"path":"a.txt","change":"created","added":1,"removed":0}]}',3964319289);
INSERT INTO "events" VALUES(3,10,'2026-11-16T04:31:29.686Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"written"}',2814165828);
INSERT INTO "events" VALUES(3,11,'2026-11-16T04:31:29.687Z','{"type":"step","step":1,"total":2,"message":"Reads and changes code.","agent":"coder","state":"completed"}',2553476348);
INSERT INTO "events" VALUES(3,12,'2026-11-16T04:31:29.687Z','{"type":"handoff","from":"coder","to":"reviewer","context":{"filesModified":["a.txt"],"currentState":"written","remainingTasks":["reviewer"]},"reason":"The coder is done; the reviewer goes on."}',3660558975);
INSERT INTO "events" VALUES(3,13,'2026-11-16T04:31:29.687Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"started"}',1245781706);
INSERT INTO "events" VALUES(3,14,'2026-11-16T04:31:29.687Z','{"type":"model","role":"fast","provider":"scripted","model":"write"}',3602082442);
INSERT INTO "events" VALUES(3,15,'2026-11-16T04:31:29.687Z','{"type":"message","messageId":"r1.2-reviewer.0","role":"assistant","agent":"reviewer","text":"fine"}',1679653198);
INSERT INTO "events" VALUES(3,16,'2026-11-16T04:31:29.688Z','{"type":"step","step":2,"total":2,"message":"Looks at a change and says what is wrong with it.","agent":"reviewer","state":"completed"}',4153009749);
INSERT INTO "events" VALUES(3,17,'2026-11-16T04:31:29.688Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1025982725);
INSERT INTO "events" VALUES(3,18,'2026-11-16T04:31:29.688Z','{"type":"complete","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1371918080);
INSERT INTO "events" VALUES(3,19,'2026-11-16T04:31:29.688Z','{"type":"status","status":"completed"}',1257379732);
INSERT INTO "events" VALUES(4,1,'2026-11-16T04:31:29.692Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(4,2,'2026-11-16T04:31:29.692Z','{"type":"message","messageId":"t_5b3680118a2d05b0aa02.asked","role":"user","agent":"","text":"x"}',1998073513);
INSERT INTO "events" VALUES(4,3,'2026-11-16T04:31:29.694Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(4,4,'2026-11-16T04:31:29.694Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',4114904383);
INSERT INTO "events" VALUES(4,5,'2026-11-16T04:31:29.696Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3600134437);
INSERT INTO "events" VALUES(4,6,'2026-11-16T04:31:29.696Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',1578338830);
INSERT INTO "events" VALUES(4,7,'2026-11-16T04:31:29.697Z','{"type":"tool","callId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',2124742807);
INSERT INTO "events" VALUES(4,8,'2026-11-16T04:31:29.697Z','{"type":"approval","approvalId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0:approve","callId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0","action":"run_command command=true","argv":["true"],"cwd":".","why":"a command may do anything that you may","state":"requested"}',1507598493);
INSERT INTO "events" VALUES(4,9,'2026-11-16T04:31:29.698Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',3693556270);
INSERT INTO "events" VALUES(4,10,'2026-11-16T04:31:29.700Z','{"type":"status","status":"cancelling"}',2751427628);
INSERT INTO "events" VALUES(4,11,'2026-11-16T04:31:29.701Z','{"type":"tool","callId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0","tool":"run_command","status":"cancelled","args":{"command":"true"},"summary":"cancelled","durationMs":4.298,"cached":false,"executor":"local"}',2443728426);
INSERT INTO "events" VALUES(4,12,'2026-11-16T04:31:29.702Z','{"type":"cancelled","killed":[],"effects":[]}',1014197614);
INSERT INTO "events" VALUES(4,13,'2026-11-16T04:31:29.702Z','{"type":"status","status":"cancelled"}',2105927026);
INSERT INTO "events" VALUES(5,1,'2026-11-16T04:31:29.706Z','{"type":"status","status":"queued"}',3961100690);
INSERT INTO "events" VALUES(5,2,'2026-11-16T04:31:29.706Z','{"type":"message","messageId":"t_94002c4d1036a3ed14f4.asked","role":"user","agent":"","text":"x"}',3841352101);
INSERT INTO "events" VALUES(5,3,'2026-11-16T04:31:29.707Z','{"type":"status","status":"running"}',1375703119);
INSERT INTO "events" VALUES(5,4,'2026-11-16T04:31:29.708Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',4114904383);
INSERT INTO "events" VALUES(5,5,'2026-11-16T04:31:29.709Z','{"type":"step","step":1,"total":1,"message":"Runs commands and tests and reads what they say.","agent":"terminal","state":"started"}',3600134437);
INSERT INTO "events" VALUES(5,6,'2026-11-16T04:31:29.710Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',1578338830);
INSERT INTO "events" VALUES(5,7,'2026-11-16T04:31:29.711Z','{"type":"tool","callId":"t_94002c4d1036a3ed14f4.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',4144659344);
INSERT INTO "events" VALUES(5,8,'2026-11-16T04:31:29.711Z','{"type":"approval","approvalId":"t_94002c4d1036a3ed14f4.r1.1-terminal.0.0:approve","callId":"t_94002c4d1036a3ed14f4.r1.1-terminal.0.0","action":"run_command command=true","argv":["true"],"cwd":".","why":"a command may do anything that you may","state":"requested"}',3469446118);
INSERT INTO "events" VALUES(5,9,'2026-11-16T04:31:29.711Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',3693556270);
CREATE TABLE records (
            task INTEGER NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            number INTEGER NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, kind, key)
        ) WITHOUT ROWID
        ;
INSERT INTO "records" VALUES(1,'message','m_3c6f8c7013d91514',6,'{"id":"m_3c6f8c7013d91514","text":"search for needle","opens":true}',494750304);
INSERT INTO "records" VALUES(1,'outcome','t_e9788890b84fa6cba6bf.r1.1-coder.0.0',2,'{"status":"success","content":"needle.txt","details":{"entries":[{"path":"needle.txt","kind":"file"}]},"summary":"1 entries in .","durationMs":3.01,"cached":false,"executor":"local"}',2368004110);
INSERT INTO "records" VALUES(1,'outcome','t_e9788890b84fa6cba6bf.r2.1-coder.0.0',9,'{"status":"success","content":"needle.txt:1: a needle","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]},"summary":"1 matches in 1 files","durationMs":13.417,"cached":false,"executor":"local"}',4107932286);
INSERT INTO "records" VALUES(1,'round','1',5,'{"asked":"list the files","answered":"needle.txt"}',2420839151);
INSERT INTO "records" VALUES(1,'round','2',12,'{"asked":"search for needle","answered":"needle.txt:1: a needle"}',3644938833);
INSERT INTO "records" VALUES(1,'step','r1.1-coder',4,'needle.txt',1356674865);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.0',1,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"list_dir","args":{"path":"."}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',728889918);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.1',3,'{"heard":[],"reply":{"text":"needle.txt","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1226067446);
INSERT INTO "records" VALUES(1,'step','r1.route',0,'{"intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',839599066);
INSERT INTO "records" VALUES(1,'step','r2.1-coder',11,'needle.txt:1: a needle',3221858272);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.0',8,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"search_code","args":{"query":"needle"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',2235414116);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.1',10,'{"heard":[],"reply":{"text":"needle.txt:1: a needle","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',3492677859);
INSERT INTO "records" VALUES(1,'step','r2.route',7,'{"intent":"explain_code","confidence":0.85,"pipeline":["coder"],"why":"it asks a question about the code"}',839599066);
INSERT INTO "records" VALUES(2,'step','r1.route',0,'{"intent":"chat","confidence":0.5,"pipeline":["coder"],"why":"no rule recognised it as work on code"}',2301199904);
INSERT INTO "records" VALUES(3,'intent','t_fba7e3fd7c9b8a6a9320.r1.1-coder.0.0',2,'{"tool":"write_file","args":{"path":"a.txt","content":"a\n"},"site":"local","files":[{"path":"a.txt","before":null,"after":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","mode":null}]}',2423267746);
INSERT INTO "records" VALUES(3,'outcome','t_fba7e3fd7c9b8a6a9320.r1.1-coder.0.0',3,'{"status":"success","content":"Created a.txt (+1 −0)","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]},"summary":"created a.txt","durationMs":8.177,"cached":false,"executor":"local"}',129097427);
INSERT INTO "records" VALUES(3,'round','1',8,'{"asked":"write it","answered":"fine"}',4288468984);
INSERT INTO "records" VALUES(3,'step','r1.1-coder',5,'written',1666100439);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.0',1,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"a.txt","content":"a\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1282964153);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.1',4,'{"heard":[],"reply":{"text":"written","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',555074968);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer',7,'fine',3198768274);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer.0',6,'{"heard":[],"reply":{"text":"fine","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',291059185);
INSERT INTO "records" VALUES(3,'step','r1.route',0,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',2043899113);
INSERT INTO "records" VALUES(4,'approval','t_5b3680118a2d05b0aa02.r1.1-terminal.0.0:approve',2,'{"type":"approval","approvalId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0:approve","callId":"t_5b3680118a2d05b0aa02.r1.1-terminal.0.0","action":"run_command command=true","argv":["true"],"cwd":".","why":"a command may do anything that you may","state":"requested"}',1507598493);
INSERT INTO "records" VALUES(4,'step','r1.1-terminal.0',1,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',2371206480);
INSERT INTO "records" VALUES(4,'step','r1.route',0,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',2672286385);
INSERT INTO "records" VALUES(5,'approval','t_94002c4d1036a3ed14f4.r1.1-terminal.0.0:approve',2,'{"type":"approval","approvalId":"t_94002c4d1036a3ed14f4.r1.1-terminal.0.0:approve","callId":"t_94002c4d1036a3ed14f4.r1.1-terminal.0.0","action":"run_command command=true","argv":["true"],"cwd":".","why":"a command may do anything that you may","state":"requested"}',3469446118);
INSERT INTO "records" VALUES(5,'step','r1.1-terminal.0',1,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',2371206480);
INSERT INTO "records" VALUES(5,'step','r1.route',0,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',2672286385);
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
INSERT INTO "tasks" VALUES(1,'t_e9788890b84fa6cba6bf','2026-11-16T04:31:29.550Z','c_1cf05b7a83322655ae68',NULL,1,'{"task":"list the files","workspace":"/tmp/tmpe6fy_3wj/workspace","conversationId":"c_1cf05b7a83322655ae68","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',3898390152,'completed','{"status":"completed","intent":"explain_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"Reads and changes code."},"startedAt":"2026-11-16T04:31:29.570Z","endedAt":"2026-11-16T04:31:29.657Z","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',1446674381,2,2,NULL,NULL);
INSERT INTO "tasks" VALUES(2,'t_7b66a8c114b616a2ce3d','2026-11-16T04:31:29.661Z','c_55e4a3b30c6f17ce09b7',NULL,1,'{"task":"ponder the meaning of life","workspace":"/tmp/tmpe6fy_3wj/workspace","conversationId":"c_55e4a3b30c6f17ce09b7","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2584442039,'failed','{"status":"failed","intent":"chat","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`."},"startedAt":"2026-11-16T04:31:29.662Z","endedAt":"2026-11-16T04:31:29.666Z","result":null,"error":{"code":"not_understood","message":"The offline model did not understand this; it can do things like “run the tests”, “list the files”, “search for \"TODO\"”, “run `git status`”. For everything else, configure a language model: see `brain doctor`.","recoverable":true},"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',1263968536,3,1,NULL,NULL);
INSERT INTO "tasks" VALUES(3,'t_fba7e3fd7c9b8a6a9320','2026-11-16T04:31:29.670Z','c_6f35865218c2d406387d',NULL,1,'{"task":"write it","workspace":"/tmp/tmpe6fy_3wj/workspace","conversationId":"c_6f35865218c2d406387d","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":null,"models":{"fast":"scripted/write","smart":"scripted/write","instant":"scripted/write"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',840287647,'completed','{"status":"completed","intent":"edit_code","pipeline":["coder","reviewer"],"progress":{"step":2,"total":2,"message":"Looks at a change and says what is wrong with it."},"startedAt":"2026-11-16T04:31:29.672Z","endedAt":"2026-11-16T04:31:29.688Z","result":{"summary":"fine","filesModified":["a.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',100806392,4,1,NULL,NULL);
INSERT INTO "tasks" VALUES(4,'t_5b3680118a2d05b0aa02','2026-11-16T04:31:29.692Z','c_28ff8787fe8aa63c64bc',NULL,1,'{"task":"x","workspace":"/tmp/tmpe6fy_3wj/workspace","conversationId":"c_28ff8787fe8aa63c64bc","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',4083602066,'cancelled','{"status":"cancelled","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T04:31:29.694Z","endedAt":"2026-11-16T04:31:29.702Z","result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4139081214,5,1,NULL,NULL);
INSERT INTO "tasks" VALUES(5,'t_94002c4d1036a3ed14f4','2026-11-16T04:31:29.706Z','c_aff4535d0a41f699a98a',NULL,1,'{"task":"x","workspace":"/tmp/tmpe6fy_3wj/workspace","conversationId":"c_aff4535d0a41f699a98a","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2226539303,'waiting','{"status":"waiting","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Runs commands and tests and reads what they say."},"startedAt":"2026-11-16T04:31:29.707Z","endedAt":null,"result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',1405530551,6,1,'23725-db7a4dd0',5347.311828428);
CREATE INDEX tasks_queue ON tasks (status, priority, queued);
CREATE INDEX tasks_conversation ON tasks (conversation, position);
CREATE INDEX blob_uses_digest ON blob_uses (digest);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tasks',5);
COMMIT;
PRAGMA user_version = 1;
