PRAGMA auto_vacuum = INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE blob_uses (
            task INTEGER NOT NULL,
            digest TEXT NOT NULL,
            PRIMARY KEY (task, digest)
        ) WITHOUT ROWID
        ;
INSERT INTO "blob_uses" VALUES(10,'2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806');
INSERT INTO "blob_uses" VALUES(5,'3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16');
INSERT INTO "blob_uses" VALUES(7,'3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16');
INSERT INTO "blob_uses" VALUES(6,'4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865');
INSERT INTO "blob_uses" VALUES(7,'4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865');
INSERT INTO "blob_uses" VALUES(7,'543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c');
INSERT INTO "blob_uses" VALUES(7,'54db62122c1e5abfb8121ef78130e8d457d917f0d2be974cbf15265964ba61e9');
INSERT INTO "blob_uses" VALUES(3,'87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7');
INSERT INTO "blob_uses" VALUES(7,'87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7');
INSERT INTO "blob_uses" VALUES(8,'b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41');
INSERT INTO "blob_uses" VALUES(7,'e490f4e0df1aa85789ba866a7def975f7bb8f0993f091a361c76d885fda6a868');
CREATE TABLE blobs (digest TEXT PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL, base TEXT, depth INTEGER NOT NULL DEFAULT 0);
INSERT INTO "blobs" VALUES('87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7',2,X'78014BE4020000CE006C',NULL,0);
INSERT INTO "blobs" VALUES('3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16',5,X'78012B48CC4CE1020005C601A9',NULL,0);
INSERT INTO "blobs" VALUES('4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865',2,X'780133E40200006E003C',NULL,0);
INSERT INTO "blobs" VALUES('543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c',6,X'78012B2FCACF4BE7020008E80238',NULL,0);
INSERT INTO "blobs" VALUES('54db62122c1e5abfb8121ef78130e8d457d917f0d2be974cbf15265964ba61e9',773,X'78016DD24D6E1B310C05E07D8E31EB4141893F227D891E20F04212A9D680EB06F5042D10E4EE551C244EEA6E06980701FC40BEA7651C8E715E76F777F74BFDB2FDD996F51E31A9AE399166CB6B5E533152A6A290993109887ECAEC92D97E5DCEDF6B66D969A1ACA373CE0AE89840384AEB817D008EA0C260229882034A6B5E2A0C0F814E7D64EE65D9AF93733CFC386CFF924C0D3E91082FE3CB47E67B76251132579296CC91D47B1E5C3A900C8D21E8C4A8D19AA100C0C06E11C65473210177157E259D22FC1837264AB0DAFB4A8A312B4B9E5BF95F763505190C0AF0916A552E6AADAA482D1EC30A8FB91A1D6086F3932A4AEA455C958757990FF5D5F4500F7E239A1758F97DBA02A5CBE13E6FE92DBB8AB053EE05BCA7325269901360671961AE56734DDDA10086359F27ADC18DA292BB57EE5493BC8A7EFFFA79FA76433290F5BA90492AE9A537053F32DFB22B89097DA88DE8CA2DF5D9A839F5A54D5211035306E48974096F084A33F1206F5CAD114A5FF677B34DCB31C6F6F5715B764FCFF3EFF1748E6D3B86CFE2EF9FFF0265ACC5E9',NULL,0);
INSERT INTO "blobs" VALUES('e490f4e0df1aa85789ba866a7def975f7bb8f0993f091a361c76d885fda6a868',9,X'78014B54C84B4D4DC949E502000F7302F9',NULL,0);
INSERT INTO "blobs" VALUES('b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41',6,X'78014BCB2C2A2EE10200088A0233',NULL,0);
INSERT INTO "blobs" VALUES('2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806',4,X'7801CBCF4BE5020003DE014D',NULL,0);
CREATE TABLE commits (id INTEGER PRIMARY KEY CHECK (id = 1), number INTEGER NOT NULL);
INSERT INTO "commits" VALUES(1,80);
CREATE TABLE events (
            task INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            at TEXT NOT NULL,
            body TEXT NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (task, seq)
        ) WITHOUT ROWID
        ;
INSERT INTO "events" VALUES(1,1,'2026-11-16T18:46:19.655Z','{"type":"status","status":"queued"}',2892296154);
INSERT INTO "events" VALUES(1,2,'2026-11-16T18:46:19.655Z','{"type":"message","messageId":"t_199bc25c0fff6a160a92.asked","role":"user","agent":"","text":"list the files"}',3659058557);
INSERT INTO "events" VALUES(1,3,'2026-11-16T18:46:19.679Z','{"type":"status","status":"running"}',1422817594);
INSERT INTO "events" VALUES(1,4,'2026-11-16T18:46:19.680Z','{"type":"route","intent":"explain_code","confidence":0.7922859637126368,"pipeline":["coder"],"why":"it asks about the code and for no change (“the files”)"}',1180662322);
INSERT INTO "events" VALUES(1,5,'2026-11-16T18:46:19.680Z','{"type":"step","step":1,"total":1,"message":"Look at the code and answer","agent":"coder","state":"started"}',3676076210);
INSERT INTO "events" VALUES(1,6,'2026-11-16T18:46:19.767Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',828563034);
INSERT INTO "events" VALUES(1,7,'2026-11-16T18:46:20.012Z','{"type":"tool","callId":"t_199bc25c0fff6a160a92.r1.1-coder.0.0","tool":"list_dir","status":"running","args":{"path":"."},"summary":"path=.","durationMs":0.0,"cached":false,"executor":"local"}',486279151);
INSERT INTO "events" VALUES(1,8,'2026-11-16T18:46:20.029Z','{"type":"tool","callId":"t_199bc25c0fff6a160a92.r1.1-coder.0.0","tool":"list_dir","status":"success","args":{"path":"."},"summary":"1 entries in .","durationMs":9.891,"cached":false,"executor":"local","details":{"entries":[{"path":"needle.txt","kind":"file"}]}}',639009843);
INSERT INTO "events" VALUES(1,9,'2026-11-16T18:46:20.032Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt"}',613395703);
INSERT INTO "events" VALUES(1,10,'2026-11-16T18:46:20.032Z','{"type":"step","step":1,"total":1,"message":"Look at the code and answer","agent":"coder","state":"completed"}',405279173);
INSERT INTO "events" VALUES(1,11,'2026-11-16T18:46:20.036Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1296539542);
INSERT INTO "events" VALUES(1,12,'2026-11-16T18:46:20.036Z','{"type":"complete","result":{"summary":"needle.txt","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',3346826963);
INSERT INTO "events" VALUES(1,13,'2026-11-16T18:46:20.036Z','{"type":"status","status":"completed"}',2259115036);
INSERT INTO "events" VALUES(1,14,'2026-11-16T18:46:20.215Z','{"type":"message","messageId":"m_e9753d19e78b2a99","role":"user","agent":"","text":"search for needle"}',1692892223);
INSERT INTO "events" VALUES(1,15,'2026-11-16T18:46:20.215Z','{"type":"status","status":"queued","reason":"continued by a message"}',2137522442);
INSERT INTO "events" VALUES(1,16,'2026-11-16T18:46:20.223Z','{"type":"status","status":"running"}',3575227707);
INSERT INTO "events" VALUES(1,17,'2026-11-16T18:46:20.225Z','{"type":"route","intent":"explain_code","confidence":0.9150530690642127,"pipeline":["coder"],"why":"it asks about the code and for no change (“search for”)"}',833366682);
INSERT INTO "events" VALUES(1,18,'2026-11-16T18:46:20.226Z','{"type":"step","step":1,"total":1,"message":"Look at the code and answer","agent":"coder","state":"started"}',2909213526);
INSERT INTO "events" VALUES(1,19,'2026-11-16T18:46:20.226Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',2585809895);
INSERT INTO "events" VALUES(1,20,'2026-11-16T18:46:20.228Z','{"type":"tool","callId":"t_199bc25c0fff6a160a92.r2.1-coder.0.0","tool":"search_code","status":"running","args":{"query":"needle"},"summary":"query=needle","durationMs":0.0,"cached":false,"executor":"local"}',1128857017);
INSERT INTO "events" VALUES(1,21,'2026-11-16T18:46:20.234Z','{"type":"tool","callId":"t_199bc25c0fff6a160a92.r2.1-coder.0.0","tool":"search_code","status":"success","args":{"query":"needle"},"summary":"1 matches in 1 files","durationMs":7.428,"cached":false,"executor":"local","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]}}',1377292810);
INSERT INTO "events" VALUES(1,22,'2026-11-16T18:46:20.235Z','{"type":"message","messageId":"r2.1-coder.1","role":"assistant","agent":"coder","text":"needle.txt:1: a needle"}',3760098771);
INSERT INTO "events" VALUES(1,23,'2026-11-16T18:46:20.236Z','{"type":"step","step":1,"total":1,"message":"Look at the code and answer","agent":"coder","state":"completed"}',717984688);
INSERT INTO "events" VALUES(1,24,'2026-11-16T18:46:20.236Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1514415764);
INSERT INTO "events" VALUES(1,25,'2026-11-16T18:46:20.236Z','{"type":"complete","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',3282535911);
INSERT INTO "events" VALUES(1,26,'2026-11-16T18:46:20.236Z','{"type":"status","status":"completed"}',142651882);
INSERT INTO "events" VALUES(2,1,'2026-11-16T18:46:20.240Z','{"type":"status","status":"queued"}',2244086865);
INSERT INTO "events" VALUES(2,2,'2026-11-16T18:46:20.240Z','{"type":"message","messageId":"t_48b737a84839c89caca3.asked","role":"user","agent":"","text":"ponder the meaning of life"}',1264131437);
INSERT INTO "events" VALUES(2,3,'2026-11-16T18:46:20.241Z','{"type":"status","status":"running"}',494064505);
INSERT INTO "events" VALUES(2,4,'2026-11-16T18:46:20.242Z','{"type":"route","intent":"chat","confidence":0.5155002628019244,"pipeline":["coder"],"why":"it is about no code (“meaning”)"}',1729316852);
INSERT INTO "events" VALUES(2,5,'2026-11-16T18:46:20.242Z','{"type":"step","step":1,"total":1,"message":"Look at the code and answer","agent":"coder","state":"started"}',1042283439);
INSERT INTO "events" VALUES(2,6,'2026-11-16T18:46:20.242Z','{"type":"model","role":"smart","provider":"offline","model":"basic"}',385663295);
INSERT INTO "events" VALUES(2,7,'2026-11-16T18:46:20.244Z','{"type":"message","messageId":"r1.1-coder.0","role":"assistant","agent":"coder","text":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps."}',526646615);
INSERT INTO "events" VALUES(2,8,'2026-11-16T18:46:20.244Z','{"type":"step","step":1,"total":1,"message":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps.","agent":"coder","state":"failed"}',851804742);
INSERT INTO "events" VALUES(2,9,'2026-11-16T18:46:20.245Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',230637498);
INSERT INTO "events" VALUES(2,10,'2026-11-16T18:46:20.245Z','{"type":"error","code":"not_understood","message":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps.","recoverable":true}',2526201651);
INSERT INTO "events" VALUES(2,11,'2026-11-16T18:46:20.245Z','{"type":"status","status":"failed","reason":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps."}',167860837);
INSERT INTO "events" VALUES(3,1,'2026-11-16T18:46:20.251Z','{"type":"status","status":"queued"}',1187248666);
INSERT INTO "events" VALUES(3,2,'2026-11-16T18:46:20.251Z','{"type":"message","messageId":"t_b787fb85b1302ecc8f4b.asked","role":"user","agent":"","text":"write it"}',4062780474);
INSERT INTO "events" VALUES(3,3,'2026-11-16T18:46:20.252Z','{"type":"status","status":"running"}',1638751685);
INSERT INTO "events" VALUES(3,4,'2026-11-16T18:46:20.252Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',3142245672);
INSERT INTO "events" VALUES(3,5,'2026-11-16T18:46:20.252Z','{"type":"step","step":1,"total":2,"message":"Change the code","agent":"coder","state":"started"}',2228179995);
INSERT INTO "events" VALUES(3,6,'2026-11-16T18:46:20.254Z','{"type":"model","role":"smart","provider":"scripted","model":"write"}',795272188);
INSERT INTO "events" VALUES(3,7,'2026-11-16T18:46:20.258Z','{"type":"tool","callId":"t_b787fb85b1302ecc8f4b.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"a.txt","content":"a\n"},"summary":"path=a.txt content=a\n","durationMs":0.0,"cached":false,"executor":"local"}',1305346123);
INSERT INTO "events" VALUES(3,8,'2026-11-16T18:46:20.265Z','{"type":"tool","callId":"t_b787fb85b1302ecc8f4b.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"a.txt","content":"a\n"},"summary":"created a.txt","durationMs":8.382,"cached":false,"executor":"local","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]}}',3405815890);
INSERT INTO "events" VALUES(3,9,'2026-11-16T18:46:20.265Z','{"type":"diff","files":[{"path":"a.txt","change":"created","added":1,"removed":0}]}',3987422851);
INSERT INTO "events" VALUES(3,10,'2026-11-16T18:46:20.266Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"written"}',727293715);
INSERT INTO "events" VALUES(3,11,'2026-11-16T18:46:20.267Z','{"type":"step","step":1,"total":2,"message":"Change the code","agent":"coder","state":"completed"}',564060829);
INSERT INTO "events" VALUES(3,12,'2026-11-16T18:46:20.267Z','{"type":"handoff","from":"coder","to":"reviewer","context":{"filesModified":["a.txt"],"currentState":"written","remainingTasks":["Review what was done"]},"reason":"The coder is done; the reviewer goes on."}',3336741572);
INSERT INTO "events" VALUES(3,13,'2026-11-16T18:46:20.268Z','{"type":"step","step":2,"total":2,"message":"Review what was done","agent":"reviewer","state":"started"}',2950172830);
INSERT INTO "events" VALUES(3,14,'2026-11-16T18:46:20.268Z','{"type":"model","role":"fast","provider":"scripted","model":"write"}',3575078052);
INSERT INTO "events" VALUES(3,15,'2026-11-16T18:46:20.270Z','{"type":"message","messageId":"r1.2-reviewer.0","role":"assistant","agent":"reviewer","text":"fine"}',4125522191);
INSERT INTO "events" VALUES(3,16,'2026-11-16T18:46:20.271Z','{"type":"step","step":2,"total":2,"message":"Review what was done","agent":"reviewer","state":"completed"}',565474074);
INSERT INTO "events" VALUES(3,17,'2026-11-16T18:46:20.327Z','{"type":"step","step":3,"total":3,"message":"Check what was done","agent":"verify","state":"started"}',919190935);
INSERT INTO "events" VALUES(3,18,'2026-11-16T18:46:20.329Z','{"type":"step","step":3,"total":3,"message":"Check what was done","agent":"verify","state":"completed"}',2093733327);
INSERT INTO "events" VALUES(3,19,'2026-11-16T18:46:20.331Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',1119540463);
INSERT INTO "events" VALUES(3,20,'2026-11-16T18:46:20.331Z','{"type":"complete","result":{"summary":"written\n\nfine","filesModified":["a.txt"],"verification":{"passed":null,"attempt":1,"checks":[]},"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',1398782245);
INSERT INTO "events" VALUES(3,21,'2026-11-16T18:46:20.331Z','{"type":"status","status":"completed"}',3127295669);
INSERT INTO "events" VALUES(4,1,'2026-11-16T18:46:20.341Z','{"type":"status","status":"queued"}',2802738164);
INSERT INTO "events" VALUES(4,2,'2026-11-16T18:46:20.341Z','{"type":"message","messageId":"t_7b8411486c8d7b6aa8af.asked","role":"user","agent":"","text":"cancel it"}',329760343);
INSERT INTO "events" VALUES(4,3,'2026-11-16T18:46:20.342Z','{"type":"status","status":"running"}',654204707);
INSERT INTO "events" VALUES(4,4,'2026-11-16T18:46:20.343Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',2937423514);
INSERT INTO "events" VALUES(4,5,'2026-11-16T18:46:20.343Z','{"type":"step","step":1,"total":1,"message":"Run it","agent":"terminal","state":"started"}',1707403422);
INSERT INTO "events" VALUES(4,6,'2026-11-16T18:46:20.344Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',4107515653);
INSERT INTO "events" VALUES(4,7,'2026-11-16T18:46:20.383Z','{"type":"tool","callId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',2095678831);
INSERT INTO "events" VALUES(4,8,'2026-11-16T18:46:20.383Z','{"type":"approval","approvalId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0:approve","callId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',2999008790);
INSERT INTO "events" VALUES(4,9,'2026-11-16T18:46:20.385Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',871421470);
INSERT INTO "events" VALUES(4,10,'2026-11-16T18:46:20.393Z','{"type":"status","status":"cancelling"}',2907680683);
INSERT INTO "events" VALUES(4,11,'2026-11-16T18:46:20.394Z','{"type":"tool","callId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0","tool":"run_command","status":"cancelled","args":{"command":"true"},"summary":"cancelled","durationMs":43.574,"cached":false,"executor":"local"}',3005540070);
INSERT INTO "events" VALUES(4,12,'2026-11-16T18:46:20.394Z','{"type":"step","step":1,"total":1,"message":"Stopped, because the task was cancelled.","agent":"terminal","state":"failed"}',1684162906);
INSERT INTO "events" VALUES(4,13,'2026-11-16T18:46:20.394Z','{"type":"cancelled","killed":[],"effects":[]}',1713038018);
INSERT INTO "events" VALUES(4,14,'2026-11-16T18:46:20.394Z','{"type":"status","status":"cancelled"}',3810765278);
INSERT INTO "events" VALUES(5,1,'2026-11-16T18:46:20.403Z','{"type":"status","status":"queued"}',2080785859);
INSERT INTO "events" VALUES(5,2,'2026-11-16T18:46:20.403Z','{"type":"message","messageId":"t_f4c2815d3911f205078f.asked","role":"user","agent":"","text":"budget it"}',3956214599);
INSERT INTO "events" VALUES(5,3,'2026-11-16T18:46:20.404Z','{"type":"status","status":"running"}',2144197359);
INSERT INTO "events" VALUES(5,4,'2026-11-16T18:46:20.404Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',326985213);
INSERT INTO "events" VALUES(5,5,'2026-11-16T18:46:20.404Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"started"}',1961155586);
INSERT INTO "events" VALUES(5,6,'2026-11-16T18:46:20.406Z','{"type":"model","role":"smart","provider":"scripted","model":"budget"}',3951860585);
INSERT INTO "events" VALUES(5,7,'2026-11-16T18:46:20.412Z','{"type":"usage","inputTokens":100,"outputTokens":10,"cachedTokens":0,"costUsd":0.0}',891134947);
INSERT INTO "events" VALUES(5,8,'2026-11-16T18:46:20.412Z','{"type":"tool","callId":"t_f4c2815d3911f205078f.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"paid.txt","content":"paid\n"},"summary":"path=paid.txt content=paid\n","durationMs":0.0,"cached":false,"executor":"local"}',3670841279);
INSERT INTO "events" VALUES(5,9,'2026-11-16T18:46:20.421Z','{"type":"tool","callId":"t_f4c2815d3911f205078f.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"paid.txt","content":"paid\n"},"summary":"created paid.txt","durationMs":9.463,"cached":false,"executor":"local","details":{"files":[{"path":"paid.txt","change":"created","added":1,"removed":0,"hash":"3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16","diff":"--- /dev/null\n+++ b/paid.txt\n@@ -0,0 +1 @@\n+paid"}]}}',4085569476);
INSERT INTO "events" VALUES(5,10,'2026-11-16T18:46:20.421Z','{"type":"diff","files":[{"path":"paid.txt","change":"created","added":1,"removed":0}]}',3999824098);
INSERT INTO "events" VALUES(5,11,'2026-11-16T18:46:20.423Z','{"type":"step","step":1,"total":1,"message":"The task has used its budget: 110 of 50 tokens. What it did is kept; resume it to grant the same amount again.","agent":"coder","state":"failed"}',210668210);
INSERT INTO "events" VALUES(5,12,'2026-11-16T18:46:20.423Z','{"type":"usage","inputTokens":100,"outputTokens":10,"cachedTokens":0,"costUsd":0.0}',2195706708);
INSERT INTO "events" VALUES(5,13,'2026-11-16T18:46:20.423Z','{"type":"error","code":"budget_exceeded","message":"The task has used its budget: 110 of 50 tokens. What it did is kept; resume it to grant the same amount again.","recoverable":true}',46717335);
INSERT INTO "events" VALUES(5,14,'2026-11-16T18:46:20.423Z','{"type":"status","status":"failed","reason":"The task has used its budget: 110 of 50 tokens. What it did is kept; resume it to grant the same amount again."}',2694749510);
INSERT INTO "events" VALUES(6,1,'2026-11-16T18:46:20.429Z','{"type":"status","status":"queued"}',2517980546);
INSERT INTO "events" VALUES(6,2,'2026-11-16T18:46:20.429Z','{"type":"message","messageId":"t_3e97b9cc8a17714a79cd.asked","role":"user","agent":"","text":"limit it"}',604035678);
INSERT INTO "events" VALUES(6,3,'2026-11-16T18:46:20.430Z','{"type":"status","status":"running"}',3022275202);
INSERT INTO "events" VALUES(6,4,'2026-11-16T18:46:20.430Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',3416581206);
INSERT INTO "events" VALUES(6,5,'2026-11-16T18:46:20.430Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"started"}',2301795375);
INSERT INTO "events" VALUES(6,6,'2026-11-16T18:46:20.434Z','{"type":"model","role":"smart","provider":"scripted","model":"limit"}',179353259);
INSERT INTO "events" VALUES(6,7,'2026-11-16T18:46:20.439Z','{"type":"tool","callId":"t_3e97b9cc8a17714a79cd.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"limit.txt","content":"1\n"},"summary":"path=limit.txt content=1\n","durationMs":0.0,"cached":false,"executor":"local"}',760762125);
INSERT INTO "events" VALUES(6,8,'2026-11-16T18:46:20.447Z','{"type":"tool","callId":"t_3e97b9cc8a17714a79cd.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"limit.txt","content":"1\n"},"summary":"created limit.txt","durationMs":7.676,"cached":false,"executor":"local","details":{"files":[{"path":"limit.txt","change":"created","added":1,"removed":0,"hash":"4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865","diff":"--- /dev/null\n+++ b/limit.txt\n@@ -0,0 +1 @@\n+1"}]}}',545534930);
INSERT INTO "events" VALUES(6,9,'2026-11-16T18:46:20.447Z','{"type":"diff","files":[{"path":"limit.txt","change":"created","added":1,"removed":0}]}',289338716);
INSERT INTO "events" VALUES(6,10,'2026-11-16T18:46:20.447Z','{"type":"step","step":1,"total":1,"message":"The coder was not done after 1 turn. What it did is kept; resume it to grant as many again, or send it a message that says how to go on.","agent":"coder","state":"failed"}',2914096926);
INSERT INTO "events" VALUES(6,11,'2026-11-16T18:46:20.448Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',415618122);
INSERT INTO "events" VALUES(6,12,'2026-11-16T18:46:20.448Z','{"type":"error","code":"iteration_limit","message":"The coder was not done after 1 turn. What it did is kept; resume it to grant as many again, or send it a message that says how to go on.","recoverable":true}',3434147291);
INSERT INTO "events" VALUES(6,13,'2026-11-16T18:46:20.448Z','{"type":"status","status":"failed","reason":"The coder was not done after 1 turn. What it did is kept; resume it to grant as many again, or send it a message that says how to go on."}',2134784565);
INSERT INTO "events" VALUES(7,1,'2026-11-16T18:46:20.455Z','{"type":"status","status":"queued"}',1208641089);
INSERT INTO "events" VALUES(7,2,'2026-11-16T18:46:20.455Z','{"type":"message","messageId":"t_15042d6e4b0746883816.asked","role":"user","agent":"","text":"escalate it"}',482525935);
INSERT INTO "events" VALUES(7,3,'2026-11-16T18:46:20.456Z','{"type":"status","status":"running"}',2635734053);
INSERT INTO "events" VALUES(7,4,'2026-11-16T18:46:20.456Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',1753632598);
INSERT INTO "events" VALUES(7,5,'2026-11-16T18:46:20.457Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"started"}',3366650541);
INSERT INTO "events" VALUES(7,6,'2026-11-16T18:46:20.458Z','{"type":"model","role":"smart","provider":"scripted","model":"escalate"}',2702073032);
INSERT INTO "events" VALUES(7,7,'2026-11-16T18:46:20.464Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"wrong.txt","content":"wrong\n"},"summary":"path=wrong.txt content=wrong\n","durationMs":0.0,"cached":false,"executor":"local"}',1005221219);
INSERT INTO "events" VALUES(7,8,'2026-11-16T18:46:20.477Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"wrong.txt","content":"wrong\n"},"summary":"created wrong.txt","durationMs":13.343,"cached":false,"executor":"local","details":{"files":[{"path":"wrong.txt","change":"created","added":1,"removed":0,"hash":"543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c","diff":"--- /dev/null\n+++ b/wrong.txt\n@@ -0,0 +1 @@\n+wrong"}]}}',3912391916);
INSERT INTO "events" VALUES(7,9,'2026-11-16T18:46:20.477Z','{"type":"diff","files":[{"path":"wrong.txt","change":"created","added":1,"removed":0}]}',1837143755);
INSERT INTO "events" VALUES(7,10,'2026-11-16T18:46:20.478Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"It is right."}',2158245706);
INSERT INTO "events" VALUES(7,11,'2026-11-16T18:46:20.478Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"completed"}',3430663946);
INSERT INTO "events" VALUES(7,12,'2026-11-16T18:46:20.506Z','{"type":"step","step":2,"total":2,"message":"Check what was done","agent":"verify","state":"started"}',979156927);
INSERT INTO "events" VALUES(7,13,'2026-11-16T18:46:20.510Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify1.command1","tool":"run_command","status":"running","args":{"command":"exit 1","timeoutMs":600000},"summary":"command=exit 1 timeoutMs=600000","durationMs":0.0,"cached":false,"executor":"local"}',2310792043);
INSERT INTO "events" VALUES(7,14,'2026-11-16T18:46:20.543Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify1.command1","tool":"run_command","status":"error","args":{"command":"exit 1","timeoutMs":600000},"summary":"exit code 1","durationMs":34.342,"cached":false,"executor":"local","error":{"code":"command_failed","message":"exit code 1"},"details":{"exitCode":1,"timedOut":false,"durationMs":21.0,"output":""}}',304698611);
INSERT INTO "events" VALUES(7,15,'2026-11-16T18:46:20.548Z','{"type":"step","step":2,"total":2,"message":"Check what was done","agent":"verify","state":"completed"}',210581621);
INSERT INTO "events" VALUES(7,16,'2026-11-16T18:46:20.548Z','{"type":"verification","passed":false,"attempt":1,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":34.342,"evidence":"(exit code 1)"}]}',512981023);
INSERT INTO "events" VALUES(7,17,'2026-11-16T18:46:20.548Z','{"type":"retry","attempt":2,"of":3,"hints":[],"error":"exit 1: (exit code 1)"}',269196556);
INSERT INTO "events" VALUES(7,18,'2026-11-16T18:46:20.549Z','{"type":"step","step":3,"total":3,"message":"Mend what the check found (2 of 3)","agent":"coder","state":"started"}',1400666595);
INSERT INTO "events" VALUES(7,19,'2026-11-16T18:46:20.549Z','{"type":"message","messageId":"r1.1-coder.attempt2.0","role":"assistant","agent":"coder","text":"It is right, attempt 2."}',2132964560);
INSERT INTO "events" VALUES(7,20,'2026-11-16T18:46:20.549Z','{"type":"step","step":3,"total":3,"message":"Mend what the check found (2 of 3)","agent":"coder","state":"completed"}',1612289144);
INSERT INTO "events" VALUES(7,21,'2026-11-16T18:46:20.550Z','{"type":"step","step":4,"total":4,"message":"Check what was done","agent":"verify","state":"started"}',4089030446);
INSERT INTO "events" VALUES(7,22,'2026-11-16T18:46:20.556Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify2.command1","tool":"run_command","status":"running","args":{"command":"exit 1","timeoutMs":600000},"summary":"command=exit 1 timeoutMs=600000","durationMs":0.0,"cached":false,"executor":"local"}',1903898067);
INSERT INTO "events" VALUES(7,23,'2026-11-16T18:46:20.580Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify2.command1","tool":"run_command","status":"error","args":{"command":"exit 1","timeoutMs":600000},"summary":"exit code 1","durationMs":24.409,"cached":false,"executor":"local","error":{"code":"command_failed","message":"exit code 1"},"details":{"exitCode":1,"timedOut":false,"durationMs":20.5,"output":""}}',2771516902);
INSERT INTO "events" VALUES(7,24,'2026-11-16T18:46:20.581Z','{"type":"step","step":4,"total":4,"message":"Check what was done","agent":"verify","state":"completed"}',3620036162);
INSERT INTO "events" VALUES(7,25,'2026-11-16T18:46:20.581Z','{"type":"verification","passed":false,"attempt":2,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":24.409,"evidence":"(exit code 1)"}]}',1488308938);
INSERT INTO "events" VALUES(7,26,'2026-11-16T18:46:20.581Z','{"type":"retry","attempt":3,"of":3,"hints":["The files are exactly as they were after attempt 1, which failed in the same way. That approach does not work: find another cause, and change something else."],"error":"exit 1: (exit code 1)"}',2058392484);
INSERT INTO "events" VALUES(7,27,'2026-11-16T18:46:20.583Z','{"type":"step","step":5,"total":5,"message":"Mend what the check found (3 of 3)","agent":"coder","state":"started"}',2166050923);
INSERT INTO "events" VALUES(7,28,'2026-11-16T18:46:20.587Z','{"type":"message","messageId":"r1.1-coder.attempt3.0","role":"assistant","agent":"coder","text":"It is right, attempt 3."}',605084327);
INSERT INTO "events" VALUES(7,29,'2026-11-16T18:46:20.587Z','{"type":"step","step":5,"total":5,"message":"Mend what the check found (3 of 3)","agent":"coder","state":"completed"}',4166614519);
INSERT INTO "events" VALUES(7,30,'2026-11-16T18:46:20.590Z','{"type":"step","step":6,"total":6,"message":"Check what was done","agent":"verify","state":"started"}',2583831758);
INSERT INTO "events" VALUES(7,31,'2026-11-16T18:46:20.593Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify3.command1","tool":"run_command","status":"running","args":{"command":"exit 1","timeoutMs":600000},"summary":"command=exit 1 timeoutMs=600000","durationMs":0.0,"cached":false,"executor":"local"}',360355635);
INSERT INTO "events" VALUES(7,32,'2026-11-16T18:46:20.612Z','{"type":"tool","callId":"t_15042d6e4b0746883816.r1.verify3.command1","tool":"run_command","status":"error","args":{"command":"exit 1","timeoutMs":600000},"summary":"exit code 1","durationMs":20.088,"cached":false,"executor":"local","error":{"code":"command_failed","message":"exit code 1"},"details":{"exitCode":1,"timedOut":false,"durationMs":14.3,"output":""}}',763909461);
INSERT INTO "events" VALUES(7,33,'2026-11-16T18:46:20.613Z','{"type":"step","step":6,"total":6,"message":"Check what was done","agent":"verify","state":"completed"}',146862795);
INSERT INTO "events" VALUES(7,34,'2026-11-16T18:46:20.613Z','{"type":"verification","passed":false,"attempt":3,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":20.088,"evidence":"(exit code 1)"}]}',4234010440);
INSERT INTO "events" VALUES(7,35,'2026-11-16T18:46:20.614Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',3434855666);
INSERT INTO "events" VALUES(7,36,'2026-11-16T18:46:20.614Z','{"type":"error","code":"not_verified","message":"It was tried 3 times, and what was done does not pass: exit 1: (exit code 1). The last attempt did the same as one before it. Everything that was done is kept.","recoverable":true}',2312241538);
INSERT INTO "events" VALUES(7,37,'2026-11-16T18:46:20.614Z','{"type":"escalation","reason":"It was tried 3 times, and what was done does not pass: exit 1: (exit code 1). The last attempt did the same as one before it. Everything that was done is kept.","attempts":3,"suggestions":["Simplify: ask for one smaller part of it first, in a message to this task.","Give more context: say in a message what should happen where it fails ((exit code 1)), or in which file.","Do it by hand: the change stands in wrong.txt; `exit 1` shows what is wrong. Then resume the task, and it is checked again.","Take it back: rewind the task to before the change."]}',4209892791);
INSERT INTO "events" VALUES(7,38,'2026-11-16T18:46:20.614Z','{"type":"status","status":"escalated","reason":"It was tried 3 times, and what was done does not pass: exit 1: (exit code 1). The last attempt did the same as one before it. Everything that was done is kept."}',110329522);
INSERT INTO "events" VALUES(8,1,'2026-11-16T18:46:20.622Z','{"type":"status","status":"queued"}',3915681212);
INSERT INTO "events" VALUES(8,2,'2026-11-16T18:46:20.622Z','{"type":"message","messageId":"t_847e7549c07c8a868559.asked","role":"user","agent":"","text":"rewind it"}',4111010805);
INSERT INTO "events" VALUES(8,3,'2026-11-16T18:46:20.623Z','{"type":"status","status":"running"}',3282430781);
INSERT INTO "events" VALUES(8,4,'2026-11-16T18:46:20.623Z','{"type":"route","intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',746869360);
INSERT INTO "events" VALUES(8,5,'2026-11-16T18:46:20.623Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"started"}',4271159434);
INSERT INTO "events" VALUES(8,6,'2026-11-16T18:46:20.624Z','{"type":"model","role":"smart","provider":"scripted","model":"rewind"}',58142584);
INSERT INTO "events" VALUES(8,7,'2026-11-16T18:46:20.627Z','{"type":"tool","callId":"t_847e7549c07c8a868559.r1.1-coder.0.0","tool":"write_file","status":"running","args":{"path":"rewound.txt","content":"first\n"},"summary":"path=rewound.txt content=first\n","durationMs":0.0,"cached":false,"executor":"local"}',261865405);
INSERT INTO "events" VALUES(8,8,'2026-11-16T18:46:20.632Z','{"type":"tool","callId":"t_847e7549c07c8a868559.r1.1-coder.0.0","tool":"write_file","status":"success","args":{"path":"rewound.txt","content":"first\n"},"summary":"created rewound.txt","durationMs":7.327,"cached":false,"executor":"local","details":{"files":[{"path":"rewound.txt","change":"created","added":1,"removed":0,"hash":"b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","diff":"--- /dev/null\n+++ b/rewound.txt\n@@ -0,0 +1 @@\n+first"}]}}',3919556424);
INSERT INTO "events" VALUES(8,9,'2026-11-16T18:46:20.632Z','{"type":"diff","files":[{"path":"rewound.txt","change":"created","added":1,"removed":0}]}',3873030221);
INSERT INTO "events" VALUES(8,10,'2026-11-16T18:46:20.633Z','{"type":"message","messageId":"r1.1-coder.1","role":"assistant","agent":"coder","text":"first"}',2156345070);
INSERT INTO "events" VALUES(8,11,'2026-11-16T18:46:20.633Z','{"type":"step","step":1,"total":1,"message":"Change the code","agent":"coder","state":"completed"}',2393767189);
INSERT INTO "events" VALUES(8,12,'2026-11-16T18:46:20.634Z','{"type":"usage","inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}',2025651564);
INSERT INTO "events" VALUES(8,13,'2026-11-16T18:46:20.634Z','{"type":"complete","result":{"summary":"first","filesModified":["rewound.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}}',3485168482);
INSERT INTO "events" VALUES(8,14,'2026-11-16T18:46:20.634Z','{"type":"status","status":"completed"}',3303033668);
INSERT INTO "events" VALUES(8,15,'2026-11-16T18:46:20.649Z','{"type":"diff","files":[{"path":"rewound.txt","change":"deleted","added":0,"removed":0}]}',991936981);
INSERT INTO "events" VALUES(8,16,'2026-11-16T18:46:20.649Z','{"type":"status","status":"cancelled","reason":"rewound to event 6","rewoundTo":6}',3829068939);
INSERT INTO "events" VALUES(9,1,'2026-11-16T18:46:20.653Z','{"type":"status","status":"queued"}',1445086272);
INSERT INTO "events" VALUES(9,2,'2026-11-16T18:46:20.653Z','{"type":"message","messageId":"t_40f07b95db97454c6428.asked","role":"user","agent":"","text":"ask me"}',1846693014);
INSERT INTO "events" VALUES(9,3,'2026-11-16T18:46:20.655Z','{"type":"status","status":"running"}',1172252637);
INSERT INTO "events" VALUES(9,4,'2026-11-16T18:46:20.655Z','{"type":"route","intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',1178144346);
INSERT INTO "events" VALUES(9,5,'2026-11-16T18:46:20.656Z','{"type":"step","step":1,"total":1,"message":"Run it","agent":"terminal","state":"started"}',3907189541);
INSERT INTO "events" VALUES(9,6,'2026-11-16T18:46:20.656Z','{"type":"model","role":"instant","provider":"scripted","model":"ask"}',1223303895);
INSERT INTO "events" VALUES(9,7,'2026-11-16T18:46:20.659Z','{"type":"tool","callId":"t_40f07b95db97454c6428.r1.1-terminal.0.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',1348003592);
INSERT INTO "events" VALUES(9,8,'2026-11-16T18:46:20.659Z','{"type":"approval","approvalId":"t_40f07b95db97454c6428.r1.1-terminal.0.0:approve","callId":"t_40f07b95db97454c6428.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',1868729135);
INSERT INTO "events" VALUES(9,9,'2026-11-16T18:46:20.660Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',2037068319);
INSERT INTO "events" VALUES(10,1,'2026-11-16T18:46:20.667Z','{"type":"status","status":"queued"}',3725174256);
INSERT INTO "events" VALUES(10,2,'2026-11-16T18:46:20.667Z','{"type":"message","messageId":"t_75370f9efed632f3a472.asked","role":"user","agent":"","text":"plan it"}',3350926279);
INSERT INTO "events" VALUES(10,3,'2026-11-16T18:46:20.668Z','{"type":"status","status":"running"}',3647267730);
INSERT INTO "events" VALUES(10,4,'2026-11-16T18:46:20.668Z','{"type":"route","intent":"refactor_code","confidence":1.0,"pipeline":["planner","coder","reviewer"],"why":"you chose this intent"}',2192876271);
INSERT INTO "events" VALUES(10,5,'2026-11-16T18:46:20.669Z','{"type":"step","step":1,"total":3,"message":"Plan the steps","agent":"planner","state":"started"}',3536609047);
INSERT INTO "events" VALUES(10,6,'2026-11-16T18:46:20.669Z','{"type":"model","role":"fast","provider":"scripted","model":"plan"}',2794704436);
INSERT INTO "events" VALUES(10,7,'2026-11-16T18:46:20.672Z','{"type":"message","messageId":"r1.1-planner.0","role":"assistant","agent":"planner","text":"{\"steps\": [{\"id\": \"1\", \"title\": \"Write a\", \"files\": [\"a.txt\"]}, {\"id\": \"2\", \"title\": \"Write b\", \"after\": [\"1\"]}]}"}',2696360067);
INSERT INTO "events" VALUES(10,8,'2026-11-16T18:46:20.673Z','{"type":"step","step":1,"total":3,"message":"Plan the steps","agent":"planner","state":"completed"}',3417279027);
INSERT INTO "events" VALUES(10,9,'2026-11-16T18:46:20.673Z','{"type":"handoff","from":"planner","to":"coder","context":{"filesModified":[],"currentState":"{\"steps\": [{\"id\": \"1\", \"title\": \"Write a\", \"files\": [\"a.txt\"]}, {\"id\": \"2\", \"title\": \"Write b\", \"after\": [\"1\"]}]}","remainingTasks":["Write a","Write b"]},"reason":"The planner is done; the coder goes on."}',4290029671);
INSERT INTO "events" VALUES(10,10,'2026-11-16T18:46:20.676Z','{"type":"step","step":2,"total":4,"message":"Write a","agent":"coder","state":"started"}',650626162);
INSERT INTO "events" VALUES(10,11,'2026-11-16T18:46:20.676Z','{"type":"model","role":"smart","provider":"scripted","model":"plan"}',3581931408);
INSERT INTO "events" VALUES(10,12,'2026-11-16T18:46:20.679Z','{"type":"tool","callId":"t_75370f9efed632f3a472.r1.2-coder.s1.0.0","tool":"write_file","status":"running","args":{"path":"planned.txt","content":"one\n"},"summary":"path=planned.txt content=one\n","durationMs":0.0,"cached":false,"executor":"local"}',3030714966);
INSERT INTO "events" VALUES(10,13,'2026-11-16T18:46:20.683Z','{"type":"tool","callId":"t_75370f9efed632f3a472.r1.2-coder.s1.0.0","tool":"write_file","status":"success","args":{"path":"planned.txt","content":"one\n"},"summary":"created planned.txt","durationMs":4.732,"cached":false,"executor":"local","details":{"files":[{"path":"planned.txt","change":"created","added":1,"removed":0,"hash":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806","diff":"--- /dev/null\n+++ b/planned.txt\n@@ -0,0 +1 @@\n+one"}]}}',3405368716);
INSERT INTO "events" VALUES(10,14,'2026-11-16T18:46:20.683Z','{"type":"diff","files":[{"path":"planned.txt","change":"created","added":1,"removed":0}]}',1588749815);
INSERT INTO "events" VALUES(10,15,'2026-11-16T18:46:20.685Z','{"type":"tool","callId":"t_75370f9efed632f3a472.r1.2-coder.s1.1.0","tool":"run_command","status":"pending","args":{"command":"true"},"summary":"command=true","durationMs":0.0,"cached":false,"executor":"local"}',3798381656);
INSERT INTO "events" VALUES(10,16,'2026-11-16T18:46:20.685Z','{"type":"approval","approvalId":"t_75370f9efed632f3a472.r1.2-coder.s1.1.0:approve","callId":"t_75370f9efed632f3a472.r1.2-coder.s1.1.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',1086792596);
INSERT INTO "events" VALUES(10,17,'2026-11-16T18:46:20.685Z','{"type":"status","status":"waiting","reason":"Waiting for your approval: run_command command=true"}',229971271);
INSERT INTO "events" VALUES(10,18,'2026-11-16T18:46:20.690Z','{"type":"message","messageId":"m_1acd0844a0925318","role":"user","agent":"","text":"be quick"}',388867981);
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
INSERT INTO "records" VALUES(1,'message','m_e9753d19e78b2a99',6,15,'{"id":"m_e9753d19e78b2a99","text":"search for needle","opens":true}',1468422236);
INSERT INTO "records" VALUES(1,'outcome','t_199bc25c0fff6a160a92.r1.1-coder.0.0',2,8,'{"status":"success","content":"needle.txt","details":{"entries":[{"path":"needle.txt","kind":"file"}]},"summary":"1 entries in .","durationMs":9.891,"cached":false,"executor":"local"}',1137261846);
INSERT INTO "records" VALUES(1,'outcome','t_199bc25c0fff6a160a92.r2.1-coder.0.0',9,21,'{"status":"success","content":"needle.txt:1: a needle","details":{"matches":[{"path":"needle.txt","line":1,"text":"a needle"}]},"summary":"1 matches in 1 files","durationMs":7.428,"cached":false,"executor":"local"}',3665953136);
INSERT INTO "records" VALUES(1,'round','1',5,13,'{"asked":"list the files","answered":"needle.txt"}',3219210813);
INSERT INTO "records" VALUES(1,'round','2',12,26,'{"asked":"search for needle","answered":"needle.txt:1: a needle"}',2576306736);
INSERT INTO "records" VALUES(1,'step','r1.1-coder',4,10,'needle.txt',3979621100);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.0',1,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"list_dir","args":{"path":"."}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',2413737760);
INSERT INTO "records" VALUES(1,'step','r1.1-coder.1',3,9,'{"heard":[],"reply":{"text":"needle.txt","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',2066031391);
INSERT INTO "records" VALUES(1,'step','r1.route',0,4,'{"intent":"explain_code","confidence":0.7922859637126368,"pipeline":["coder"],"why":"it asks about the code and for no change (“the files”)"}',519826081);
INSERT INTO "records" VALUES(1,'step','r2.1-coder',11,23,'needle.txt:1: a needle',3364763246);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.0',8,20,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"search_code","args":{"query":"needle"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',2118860048);
INSERT INTO "records" VALUES(1,'step','r2.1-coder.1',10,22,'{"heard":[],"reply":{"text":"needle.txt:1: a needle","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',2119786646);
INSERT INTO "records" VALUES(1,'step','r2.route',7,17,'{"intent":"explain_code","confidence":0.9150530690642127,"pipeline":["coder"],"why":"it asks about the code and for no change (“search for”)"}',4044887536);
INSERT INTO "records" VALUES(2,'step','r1.route',0,4,'{"intent":"chat","confidence":0.5155002628019244,"pipeline":["coder"],"why":"it is about no code (“meaning”)"}',415761144);
INSERT INTO "records" VALUES(3,'intent','t_b787fb85b1302ecc8f4b.r1.1-coder.0.0',3,7,'{"tool":"write_file","args":{"path":"a.txt","content":"a\n"},"site":"local","files":[{"path":"a.txt","before":null,"after":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","mode":null}]}',4107305045);
INSERT INTO "records" VALUES(3,'outcome','t_b787fb85b1302ecc8f4b.r1.1-coder.0.0',4,9,'{"status":"success","content":"Created a.txt (+1 −0)","details":{"files":[{"path":"a.txt","change":"created","added":1,"removed":0,"hash":"87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7","diff":"--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+a"}]},"summary":"created a.txt","durationMs":8.382,"cached":false,"executor":"local"}',2702408366);
INSERT INTO "records" VALUES(3,'round','1',10,21,'{"asked":"write it","answered":"written\n\nfine"}',2131217512);
INSERT INTO "records" VALUES(3,'step','r1.1-coder',6,12,'written',744407726);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"a.txt","content":"a\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3563350330);
INSERT INTO "records" VALUES(3,'step','r1.1-coder.1',5,10,'{"heard":[],"reply":{"text":"written","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3999634584);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer',8,16,'fine',432809626);
INSERT INTO "records" VALUES(3,'step','r1.2-reviewer.0',7,15,'{"heard":[],"reply":{"text":"fine","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3087327625);
INSERT INTO "records" VALUES(3,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
needle.txt',1211820942);
INSERT INTO "records" VALUES(3,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder","reviewer"],"why":"you chose this intent"}',1732157450);
INSERT INTO "records" VALUES(3,'step','r1.verify1',9,18,'{"passed":null,"attempt":1,"checks":[],"notes":[],"hints":[],"state":"cb8c0ad5a5f9cf8da35a4243a1c2c518ce93d92345b8d011816ac07597e030c8","edits":1}',1313540234);
INSERT INTO "records" VALUES(4,'approval','t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0:approve',3,8,'{"type":"approval","approvalId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0:approve","callId":"t_7b8411486c8d7b6aa8af.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',3931199029);
INSERT INTO "records" VALUES(4,'step','r1.1-terminal.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',54127054);
INSERT INTO "records" VALUES(4,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
needle.txt',2241914854);
INSERT INTO "records" VALUES(4,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',1071661863);
INSERT INTO "records" VALUES(5,'intent','t_f4c2815d3911f205078f.r1.1-coder.0.0',3,8,'{"tool":"write_file","args":{"path":"paid.txt","content":"paid\n"},"site":"local","files":[{"path":"paid.txt","before":null,"after":"3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16","mode":null}]}',4045389390);
INSERT INTO "records" VALUES(5,'outcome','t_f4c2815d3911f205078f.r1.1-coder.0.0',4,10,'{"status":"success","content":"Created paid.txt (+1 −0)","details":{"files":[{"path":"paid.txt","change":"created","added":1,"removed":0,"hash":"3c42c70dc17f17b02103c56fe9d89a2a1cd0703e9bd65eae5b4ea4ddda5c4a16","diff":"--- /dev/null\n+++ b/paid.txt\n@@ -0,0 +1 @@\n+paid"}]},"summary":"created paid.txt","durationMs":9.463,"cached":false,"executor":"local"}',1269207463);
INSERT INTO "records" VALUES(5,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"paid.txt","content":"paid\n"}}],"stop":"tool_use","usage":{"inputTokens":100,"outputTokens":10,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3530791038);
INSERT INTO "records" VALUES(5,'step','r1.budget.1',5,11,'{"inputTokens":100,"outputTokens":10,"cachedTokens":0,"costUsd":0.0}',2966624614);
INSERT INTO "records" VALUES(5,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
needle.txt',2241914854);
INSERT INTO "records" VALUES(5,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',1636629582);
INSERT INTO "records" VALUES(6,'intent','t_3e97b9cc8a17714a79cd.r1.1-coder.0.0',3,7,'{"tool":"write_file","args":{"path":"limit.txt","content":"1\n"},"site":"local","files":[{"path":"limit.txt","before":null,"after":"4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865","mode":null}]}',4104677541);
INSERT INTO "records" VALUES(6,'outcome','t_3e97b9cc8a17714a79cd.r1.1-coder.0.0',4,9,'{"status":"success","content":"Created limit.txt (+1 −0)","details":{"files":[{"path":"limit.txt","change":"created","added":1,"removed":0,"hash":"4355a46b19d348dc2f57c046f8ef63d4538ebb936000f3c9ee954a27460dd865","diff":"--- /dev/null\n+++ b/limit.txt\n@@ -0,0 +1 @@\n+1"}]},"summary":"created limit.txt","durationMs":7.676,"cached":false,"executor":"local"}',334628517);
INSERT INTO "records" VALUES(6,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"limit.txt","content":"1\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3153067927);
INSERT INTO "records" VALUES(6,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
needle.txt
paid.txt',3683326888);
INSERT INTO "records" VALUES(6,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',1636629582);
INSERT INTO "records" VALUES(6,'step','r1.stop.1-coder.1',5,10,'',1360638466);
INSERT INTO "records" VALUES(7,'intent','t_15042d6e4b0746883816.r1.1-coder.0.0',3,7,'{"tool":"write_file","args":{"path":"wrong.txt","content":"wrong\n"},"site":"local","files":[{"path":"wrong.txt","before":null,"after":"543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c","mode":null}]}',1028478785);
INSERT INTO "records" VALUES(7,'intent','t_15042d6e4b0746883816.r1.verify1.command1',7,13,'{"tool":"run_command","args":{"command":"exit 1","timeoutMs":600000},"site":"local","files":[],"scan":"54db62122c1e5abfb8121ef78130e8d457d917f0d2be974cbf15265964ba61e9"}',2531145129);
INSERT INTO "records" VALUES(7,'intent','t_15042d6e4b0746883816.r1.verify2.command1',12,22,'{"tool":"run_command","args":{"command":"exit 1","timeoutMs":600000},"site":"local","files":[],"scan":"54db62122c1e5abfb8121ef78130e8d457d917f0d2be974cbf15265964ba61e9"}',779935177);
INSERT INTO "records" VALUES(7,'intent','t_15042d6e4b0746883816.r1.verify3.command1',17,31,'{"tool":"run_command","args":{"command":"exit 1","timeoutMs":600000},"site":"local","files":[],"scan":"54db62122c1e5abfb8121ef78130e8d457d917f0d2be974cbf15265964ba61e9"}',4040001494);
INSERT INTO "records" VALUES(7,'outcome','t_15042d6e4b0746883816.r1.1-coder.0.0',4,9,'{"status":"success","content":"Created wrong.txt (+1 −0)","details":{"files":[{"path":"wrong.txt","change":"created","added":1,"removed":0,"hash":"543df89fec85b1c280e5be7bc6a33e31203503cd6edb3084312de4db5a9b436c","diff":"--- /dev/null\n+++ b/wrong.txt\n@@ -0,0 +1 @@\n+wrong"}]},"summary":"created wrong.txt","durationMs":13.343,"cached":false,"executor":"local"}',2390762297);
INSERT INTO "records" VALUES(7,'outcome','t_15042d6e4b0746883816.r1.verify1.command1',8,14,'{"status":"error","content":"(exit code 1)","details":{"exitCode":1,"timedOut":false,"durationMs":21.0,"output":""},"summary":"exit code 1","error":{"code":"command_failed","message":"exit code 1"},"durationMs":34.342,"cached":false,"executor":"local"}',1547526178);
INSERT INTO "records" VALUES(7,'outcome','t_15042d6e4b0746883816.r1.verify2.command1',13,23,'{"status":"error","content":"(exit code 1)","details":{"exitCode":1,"timedOut":false,"durationMs":20.5,"output":""},"summary":"exit code 1","error":{"code":"command_failed","message":"exit code 1"},"durationMs":24.409,"cached":false,"executor":"local"}',1970621541);
INSERT INTO "records" VALUES(7,'outcome','t_15042d6e4b0746883816.r1.verify3.command1',18,32,'{"status":"error","content":"(exit code 1)","details":{"exitCode":1,"timedOut":false,"durationMs":14.3,"output":""},"summary":"exit code 1","error":{"code":"command_failed","message":"exit code 1"},"durationMs":20.088,"cached":false,"executor":"local"}',2824335039);
INSERT INTO "records" VALUES(7,'step','r1.1-coder',6,11,'It is right.',731864674);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"wrong.txt","content":"wrong\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3468315246);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.1',5,10,'{"heard":[],"reply":{"text":"It is right.","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',1823130673);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.attempt2',11,20,'It is right, attempt 2.',95464031);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.attempt2.0',10,19,'{"heard":[],"reply":{"text":"It is right, attempt 2.","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3755030520);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.attempt3',16,29,'It is right, attempt 3.',3105884944);
INSERT INTO "records" VALUES(7,'step','r1.1-coder.attempt3.0',15,28,'{"heard":[],"reply":{"text":"It is right, attempt 3.","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',174931735);
INSERT INTO "records" VALUES(7,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
limit.txt
needle.txt
paid.txt',3057303673);
INSERT INTO "records" VALUES(7,'step','r1.escalation3',20,38,'0',177090050);
INSERT INTO "records" VALUES(7,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',1636629582);
INSERT INTO "records" VALUES(7,'step','r1.verify1',9,17,'{"passed":false,"attempt":1,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":34.342,"evidence":"(exit code 1)"}],"notes":[],"hints":[],"state":"e62f0fb9d02a580ad9a649d8bf9950535b1730e651652353b72e40a1d34b3e14","edits":1}',1123672083);
INSERT INTO "records" VALUES(7,'step','r1.verify2',14,26,'{"passed":false,"attempt":2,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":24.409,"evidence":"(exit code 1)"}],"notes":[],"hints":["The files are exactly as they were after attempt 1, which failed in the same way. That approach does not work: find another cause, and change something else."],"state":"e62f0fb9d02a580ad9a649d8bf9950535b1730e651652353b72e40a1d34b3e14","edits":1}',1250852384);
INSERT INTO "records" VALUES(7,'step','r1.verify3',19,34,'{"passed":false,"attempt":3,"checks":[{"name":"exit 1","command":"exit 1","exitCode":1,"passed":false,"durationMs":20.088,"evidence":"(exit code 1)"}],"notes":[],"hints":["The files are exactly as they were after attempt 1, which failed in the same way. That approach does not work: find another cause, and change something else."],"state":"e62f0fb9d02a580ad9a649d8bf9950535b1730e651652353b72e40a1d34b3e14","edits":1}',3854853743);
INSERT INTO "records" VALUES(8,'intent','t_847e7549c07c8a868559.r1.1-coder.0.0',3,7,'{"tool":"write_file","args":{"path":"rewound.txt","content":"first\n"},"site":"local","files":[{"path":"rewound.txt","before":null,"after":"b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","mode":null}]}',685268718);
INSERT INTO "records" VALUES(8,'outcome','t_847e7549c07c8a868559.r1.1-coder.0.0',4,9,'{"status":"success","content":"Created rewound.txt (+1 −0)","details":{"files":[{"path":"rewound.txt","change":"created","added":1,"removed":0,"hash":"b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","diff":"--- /dev/null\n+++ b/rewound.txt\n@@ -0,0 +1 @@\n+first"}]},"summary":"created rewound.txt","durationMs":7.327,"cached":false,"executor":"local"}',3209110771);
INSERT INTO "records" VALUES(8,'rewind','cc0a2b64b830177a',10,16,'{"to":6}',1943465793);
INSERT INTO "records" VALUES(8,'round','1',7,14,'{"asked":"rewind it","answered":"first"}',3250975947);
INSERT INTO "records" VALUES(8,'step','r1.1-coder',6,11,'first',3033519201);
INSERT INTO "records" VALUES(8,'step','r1.1-coder.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"rewound.txt","content":"first\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',676325792);
INSERT INTO "records" VALUES(8,'step','r1.1-coder.1',5,10,'{"heard":[],"reply":{"text":"first","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',3298336620);
INSERT INTO "records" VALUES(8,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
limit.txt
needle.txt
paid.txt
wrong.txt',2896559962);
INSERT INTO "records" VALUES(8,'step','r1.route',0,4,'{"intent":"edit_code","confidence":1.0,"pipeline":["coder"],"why":"you chose this intent; you chose the agent"}',1636629582);
INSERT INTO "records" VALUES(8,'undo','cc0a2b64b830177a',8,15,'{"rewindTo":6,"files":[{"path":"rewound.txt","before":"b640e840b19d378660b32fb51ae18d67dccb4a8596a29e7bd72c1b2ae5928f41","after":null,"mode":null,"was":420}],"history":[],"tool":"reject_hunks","conflicts":[],"message":""}',2229091840);
INSERT INTO "records" VALUES(8,'undone','cc0a2b64b830177a',9,16,'{}',1680614382);
INSERT INTO "records" VALUES(9,'approval','t_40f07b95db97454c6428.r1.1-terminal.0.0:approve',3,8,'{"type":"approval","approvalId":"t_40f07b95db97454c6428.r1.1-terminal.0.0:approve","callId":"t_40f07b95db97454c6428.r1.1-terminal.0.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',2494172256);
INSERT INTO "records" VALUES(9,'step','r1.1-terminal.0',2,7,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',54127054);
INSERT INTO "records" VALUES(9,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
limit.txt
needle.txt
paid.txt
wrong.txt',2896559962);
INSERT INTO "records" VALUES(9,'step','r1.route',0,4,'{"intent":"run_command","confidence":1.0,"pipeline":["terminal"],"why":"you chose this intent"}',1071661863);
INSERT INTO "records" VALUES(10,'approval','t_75370f9efed632f3a472.r1.2-coder.s1.1.0:approve',9,16,'{"type":"approval","approvalId":"t_75370f9efed632f3a472.r1.2-coder.s1.1.0:approve","callId":"t_75370f9efed632f3a472.r1.2-coder.s1.1.0","action":"run_command command=true","argv":["/bin/sh","-c","true"],"cwd":"/tmp/tmpvbagqqnh/workspace","environment":["DEBIAN_FRONTEND","GIT_EDITOR","GIT_PAGER","GIT_TERMINAL_PROMPT","HOME","LANG","NO_COLOR","PAGER","PATH","PYENV_ROOT","PYTHONUNBUFFERED","SHELL","SSL_CERT_DIR","SSL_CERT_FILE","TERM","XDG_CONFIG_HOME","XDG_DATA_HOME"],"binding":"197d3ea876aa68c8045de2a743a9b11fc5d4d738610ad338b4881b648bbcc079","why":"you do not trust this workspace; `brain trust` would let true run","state":"requested"}',2536614533);
INSERT INTO "records" VALUES(10,'intent','t_75370f9efed632f3a472.r1.2-coder.s1.0.0',6,12,'{"tool":"write_file","args":{"path":"planned.txt","content":"one\n"},"site":"local","files":[{"path":"planned.txt","before":null,"after":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806","mode":null}]}',2541750871);
INSERT INTO "records" VALUES(10,'message','m_1acd0844a0925318',10,18,'{"id":"m_1acd0844a0925318","text":"be quick","opens":false}',46337753);
INSERT INTO "records" VALUES(10,'outcome','t_75370f9efed632f3a472.r1.2-coder.s1.0.0',7,14,'{"status":"success","content":"Created planned.txt (+1 −0)","details":{"files":[{"path":"planned.txt","change":"created","added":1,"removed":0,"hash":"2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806","diff":"--- /dev/null\n+++ b/planned.txt\n@@ -0,0 +1 @@\n+one"}]},"summary":"created planned.txt","durationMs":4.732,"cached":false,"executor":"local"}',2212965400);
INSERT INTO "records" VALUES(10,'step','r1.1-planner',3,9,'{"steps": [{"id": "1", "title": "Write a", "files": ["a.txt"]}, {"id": "2", "title": "Write b", "after": ["1"]}]}',3569474334);
INSERT INTO "records" VALUES(10,'step','r1.1-planner.0',2,7,'{"heard":[],"reply":{"text":"{\"steps\": [{\"id\": \"1\", \"title\": \"Write a\", \"files\": [\"a.txt\"]}, {\"id\": \"2\", \"title\": \"Write b\", \"after\": [\"1\"]}]}","thinking":"","calls":[],"stop":"end","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',1927972284);
INSERT INTO "records" VALUES(10,'step','r1.2-coder.s1.0',5,12,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"0-0","tool":"write_file","args":{"path":"planned.txt","content":"one\n"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',2738057307);
INSERT INTO "records" VALUES(10,'step','r1.2-coder.s1.1',8,15,'{"heard":[],"reply":{"text":"","thinking":"","calls":[{"id":"1-0","tool":"run_command","args":{"command":"true"}}],"stop":"tool_use","usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"branch":0,"room":89600}',1893625836);
INSERT INTO "records" VALUES(10,'step','r1.context',1,7,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
limit.txt
needle.txt
paid.txt
wrong.txt',2896559962);
INSERT INTO "records" VALUES(10,'step','r1.context.900',4,12,'Workspace: /tmp/tmpvbagqqnh/workspace

Files:
a.txt
limit.txt
needle.txt
paid.txt
wrong.txt',4028157882);
INSERT INTO "records" VALUES(10,'step','r1.route',0,4,'{"intent":"refactor_code","confidence":1.0,"pipeline":["planner","coder","reviewer"],"why":"you chose this intent"}',397806906);
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
INSERT INTO "tasks" VALUES(1,'t_199bc25c0fff6a160a92','2026-11-16T18:46:19.655Z','c_2cd792d3bda9912f8808',NULL,1,'{"task":"list the files","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_2cd792d3bda9912f8808","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',43835290,'completed','{"status":"completed","intent":"explain_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"Look at the code and answer"},"startedAt":"2026-11-16T18:46:19.679Z","endedAt":"2026-11-16T18:46:20.236Z","result":{"summary":"needle.txt:1: a needle","filesModified":[],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',2056968064,2,2,NULL,NULL);
INSERT INTO "tasks" VALUES(2,'t_48b737a84839c89caca3','2026-11-16T18:46:20.240Z','c_8fdc9dbed26670d68b1a',NULL,1,'{"task":"ponder the meaning of life","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_8fdc9dbed26670d68b1a","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":null,"agentType":null,"models":{"fast":null,"smart":null,"instant":null},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',1122766006,'failed','{"status":"failed","intent":"chat","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps."},"startedAt":"2026-11-16T18:46:20.241Z","endedAt":"2026-11-16T18:46:20.245Z","result":null,"error":{"code":"not_understood","message":"The offline model works by rules and did not understand this. Say “what can you do?” to see what it can. For everything else, configure a language model: `brain keys set anthropic`, or `brain models` for one on this machine; `brain doctor` helps.","recoverable":true},"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',3582341021,3,1,NULL,NULL);
INSERT INTO "tasks" VALUES(3,'t_b787fb85b1302ecc8f4b','2026-11-16T18:46:20.251Z','c_d3fdedb3e7fb0772b8f3',NULL,1,'{"task":"write it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_d3fdedb3e7fb0772b8f3","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":null,"models":{"fast":"scripted/write","smart":"scripted/write","instant":"scripted/write"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',3164320477,'completed','{"status":"completed","intent":"edit_code","pipeline":["coder","reviewer"],"progress":{"step":3,"total":3,"message":"Check what was done"},"startedAt":"2026-11-16T18:46:20.252Z","endedAt":"2026-11-16T18:46:20.331Z","result":{"summary":"written\n\nfine","filesModified":["a.txt"],"verification":{"passed":null,"attempt":1,"checks":[]},"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',4246907277,4,1,NULL,NULL);
INSERT INTO "tasks" VALUES(4,'t_7b8411486c8d7b6aa8af','2026-11-16T18:46:20.341Z','c_2e42e5b6788231198d85',NULL,1,'{"task":"cancel it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_2e42e5b6788231198d85","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"auto","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',623006418,'cancelled','{"status":"cancelled","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Stopped, because the task was cancelled."},"startedAt":"2026-11-16T18:46:20.342Z","endedAt":"2026-11-16T18:46:20.394Z","result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',2769826029,5,1,NULL,NULL);
INSERT INTO "tasks" VALUES(5,'t_f4c2815d3911f205078f','2026-11-16T18:46:20.403Z','c_c5f4b280d2a9aa2548e5',NULL,1,'{"task":"budget it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_c5f4b280d2a9aa2548e5","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":"coder","models":{"fast":"scripted/budget","smart":"scripted/budget","instant":"scripted/budget"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"off","conversationId":null,"maxIterations":null,"maxTokens":50,"maxCostUsd":null}}',537715412,'failed','{"status":"failed","intent":"edit_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The task has used its budget: 110 of 50 tokens. What it did is kept; resume it to grant the same amount again."},"startedAt":"2026-11-16T18:46:20.404Z","endedAt":"2026-11-16T18:46:20.423Z","result":null,"error":{"code":"budget_exceeded","message":"The task has used its budget: 110 of 50 tokens. What it did is kept; resume it to grant the same amount again.","recoverable":true},"verified":null,"usage":{"inputTokens":100,"outputTokens":10,"cachedTokens":0,"costUsd":0.0}}',2019214201,6,1,NULL,NULL);
INSERT INTO "tasks" VALUES(6,'t_3e97b9cc8a17714a79cd','2026-11-16T18:46:20.429Z','c_07a91ac4a23945290593',NULL,1,'{"task":"limit it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_07a91ac4a23945290593","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":"coder","models":{"fast":"scripted/limit","smart":"scripted/limit","instant":"scripted/limit"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"off","conversationId":null,"maxIterations":1,"maxTokens":null,"maxCostUsd":null}}',1592956813,'failed','{"status":"failed","intent":"edit_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"The coder was not done after 1 turn. What it did is kept; resume it to grant as many again, or send it a message that says how to go on."},"startedAt":"2026-11-16T18:46:20.430Z","endedAt":"2026-11-16T18:46:20.448Z","result":null,"error":{"code":"iteration_limit","message":"The coder was not done after 1 turn. What it did is kept; resume it to grant as many again, or send it a message that says how to go on.","recoverable":true},"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',644715717,7,1,NULL,NULL);
INSERT INTO "tasks" VALUES(7,'t_15042d6e4b0746883816','2026-11-16T18:46:20.455Z','c_d1004ee0f07f27d49dab',NULL,1,'{"task":"escalate it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_d1004ee0f07f27d49dab","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":"coder","models":{"fast":"scripted/escalate","smart":"scripted/escalate","instant":"scripted/escalate"},"priority":"normal","maxDuration":3600.0,"approvals":"auto","verify":["exit 1"],"conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2527415003,'escalated','{"status":"escalated","intent":"edit_code","pipeline":["coder"],"progress":{"step":6,"total":6,"message":"Check what was done"},"startedAt":"2026-11-16T18:46:20.456Z","endedAt":"2026-11-16T18:46:20.614Z","result":null,"error":{"code":"not_verified","message":"It was tried 3 times, and what was done does not pass: exit 1: (exit code 1). The last attempt did the same as one before it. Everything that was done is kept.","recoverable":true},"verified":false,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',3372283962,8,1,NULL,NULL);
INSERT INTO "tasks" VALUES(8,'t_847e7549c07c8a868559','2026-11-16T18:46:20.622Z','c_2a36ba385b92f8006056',NULL,1,'{"task":"rewind it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_2a36ba385b92f8006056","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"edit_code","agentType":"coder","models":{"fast":"scripted/rewind","smart":"scripted/rewind","instant":"scripted/rewind"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"off","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',1340906574,'cancelled','{"status":"cancelled","intent":"edit_code","pipeline":["coder"],"progress":{"step":1,"total":1,"message":"Change the code"},"startedAt":"2026-11-16T18:46:20.623Z","endedAt":"2026-11-16T18:46:20.649Z","result":{"summary":"first","filesModified":["rewound.txt"],"verification":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}},"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',3408687481,9,1,NULL,NULL);
INSERT INTO "tasks" VALUES(9,'t_40f07b95db97454c6428','2026-11-16T18:46:20.653Z','c_e8d7e52a8ce9fb9b155a',NULL,1,'{"task":"ask me","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_e8d7e52a8ce9fb9b155a","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"run_command","agentType":null,"models":{"fast":"scripted/ask","smart":"scripted/ask","instant":"scripted/ask"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"off","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',3099642323,'waiting','{"status":"waiting","intent":"run_command","pipeline":["terminal"],"progress":{"step":1,"total":1,"message":"Run it"},"startedAt":"2026-11-16T18:46:20.655Z","endedAt":null,"result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',2251057824,10,1,'19670-929f9cd8',1104.815135862);
INSERT INTO "tasks" VALUES(10,'t_75370f9efed632f3a472','2026-11-16T18:46:20.667Z','c_e43dffcbb3cac5c06895',NULL,1,'{"task":"plan it","workspace":"/tmp/tmpvbagqqnh/workspace","conversationId":"c_e43dffcbb3cac5c06895","context":{"workspace":null,"currentFile":null,"selectedCode":null,"openFiles":[],"attachments":[]},"options":{"intent":"refactor_code","agentType":null,"models":{"fast":"scripted/plan","smart":"scripted/plan","instant":"scripted/plan"},"priority":"normal","maxDuration":3600.0,"approvals":"ask","verify":"off","conversationId":null,"maxIterations":null,"maxTokens":null,"maxCostUsd":null}}',2127387658,'waiting','{"status":"waiting","intent":"refactor_code","pipeline":["planner","coder","reviewer"],"progress":{"step":2,"total":4,"message":"Write a"},"startedAt":"2026-11-16T18:46:20.668Z","endedAt":null,"result":null,"error":null,"verified":null,"usage":{"inputTokens":0,"outputTokens":0,"cachedTokens":0,"costUsd":0.0}}',1233464973,11,1,'19670-929f9cd8',1104.828830653);
CREATE INDEX tasks_queue ON tasks (status, priority, queued);
CREATE INDEX tasks_conversation ON tasks (conversation, position);
CREATE INDEX records_undo ON records (task) WHERE kind = 'undo';
CREATE INDEX blob_uses_digest ON blob_uses (digest);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tasks',10);
COMMIT;
PRAGMA user_version = 2;
