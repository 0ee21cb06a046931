"""The words that the rules know. English first; the commonest words of a few other languages beside them."""


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


#: Said before the verb that matters.
FILLERS = word_set(
    "please kindly can could would will you hey so now just then first next also and but lets let's simply "
    "quickly finally maybe only okay ok well i i'd we be able want need like to should must have us help me try "
    "your task is brain after that afterwards before again once bitte kannst könntest du mir mal wir ich möchte "
    "peux-tu pouvez-vous peux tu pouvez vous puedes por favor merci quiero je veux voudrais s'il te plaît und et "
    "y e i'll we'll you're gonna wanna gotta all right alright cool great thanks sure yes actually instead"
)
NEGATIONS = word_set("don't dont never no not without avoid nicht kein keine ohne sans ne sin nunca refrain")

QUESTIONS = word_set(
    "what what's whats why where where's which who who's whose when how how's is are does do did was were has "
    "have any isn't aren't doesn't should would could can wie wo warum wer welche welcher welches wann wieso "
    "weshalb wozu que quoi où ou comment pourquoi qui quel quelle quels quelles quand est-ce qu'est-ce qué dónde "
    "cómo quién cuál cuándo cuántos porqué dove come perché chi quale onde como gibt ist sind hat"
)

RUN = word_set(
    "download run rerun re-run execute start launch stop restart kill install uninstall reinstall deploy compile "
    "lint test benchmark tag commit push pull checkout rebase stash cherry-pick tail curl publish serve reload "
    "boot profile fetch clone switch format clear squash stage amend typecheck laufen führe starte installiere "
    "stoppe kompiliere teste deploye ausführen starten installieren ejecutar exécuter lancer instalar installer "
    "iniciar exécute exécutez lance lancez démarre arrête installe ejecuta ejecute inicia instala lanza compila "
    "esegui avvia installa executa rode inicie instale recompile rebuild redeploy relaunch revert reset ping time "
    "measure terminate dump seed reformat prettify"
)
CREATE = word_set(
    "create make build write generate scaffold bootstrap init initialize initialise develop code implement new "
    "design produce craft set setup draft prepare program provide erstelle erzeuge baue schreibe schreib "
    "entwickle generiere programmiere crée créer créez écris écrivez génère construis développe crea cree escribe "
    "genera construye desarrolla scrivi costruisci crie escreva gere construa prototype compose lege author spin "
    "crear escribir generar construir écrire générer construire erstellen schreiben bauen erzeugen develope "
    "rédige redacta verfasse create-react-app create-next-app create-vite"
)
#: Verbs of `CREATE` that never ask for a piece of an existing project.
FOUND = word_set("scaffold bootstrap init initialize initialise prototype create-react-app create-next-app create-vite")
EDIT = word_set(
    "add fix change update upgrade downgrade bump remove delete replace edit modify insert make let allow enable "
    "disable use set increase decrease raise lower handle catch support ensure translate undo mock wire hook "
    "append prepend correct patch repair resolve solve adjust tweak extend complete finish expose validate limit "
    "cache sort hide display-name rename move convert turn improve optimize optimise speed drop get put include "
    "exclude connect integrate swap switch-over reduce apply introduce log port localize localise style align "
    "center centre pin bind parse return throw assert cover stub deprecate mark register store save send require "
    "prevent stop-using debug troubleshoot revise substitute strip trim wrap close give-up reorder reverse secure "
    "harden encrypt escape sanitize paginate animate polish restore reintroduce bring comment-out uncomment amend "
    "fill füge ändere behebe repariere korrigiere implementiere ersetze entferne lösche aktualisiere mach mache "
    "erweitere verschiebe benenne sorge verbessere setze ergänze unterstütze beheben ändern hinzufügen entfernen "
    "löschen ajoute ajoutez corrige corrigez modifie modifiez remplace supprime implémente répare mets améliore "
    "renomme déplace permets añade agrega agregue arregla cambia elimina borra reemplaza implementa mejora "
    "actualiza modifica permite usa aggiungi correggi sostituisci adicione corrija altere remova substitua "
    "atualize mude eliminate nimm añadir arreglar corregir cambiar eliminar ajouter corriger modifier supprimer "
    "remplacer discard cut export import haz shorten lengthen highlight render show-hide pass"
)
REFACTOR = word_set(
    "refactor restructure reorganize reorganise reorganizing simplify modularize modularise modernize modernise "
    "organize organise "
    "decouple untangle disentangle deduplicate dedupe consolidate extract inline split tidy declutter streamline "
    "unify abstract generalize generalise encapsulate factor migrate rewrite rework decompose break flatten "
    "separate collapse group combine rearchitect re-architect componentize dry refactoring refaktoriere "
    "refaktorisiere vereinfache räume strukturiere zerlege teile extrahiere refactorise refactorisez simplifie "
    "nettoie réorganise extrais refactoriza simplifica reorganiza reestructura limpia extrae refattorizza "
    "semplifica riorganizza refatore simplifique refaktorieren aufräumen restrukturiere modularisiere "
    "refactorizar refactoriser simplificar simplifier restructurer"
)
REVIEW = word_set(
    "review audit critique inspect assess evaluate rate double-check doublecheck vet scrutinize scrutinise "
    "criticize judge spot sanity-check check verify suggest prüfe überprüfe kontrolliere begutachte bewerte relis "
    "relisez vérifie révise évalue inspecte revisa comprueba verifica evalúa audita rivedi controlla revise "
    "verifique avalie prüfen überprüfen reviewe examine re-review scan approve"
)
DOCUMENT = word_set(
    "document comment proofread annotate dokumentiere kommentiere documente documentez commente documenta comenta "
    "documentare dokumentieren"
)
EXPLAIN = word_set(
    "explain describe summarize summarise show list search find grep look tell walk trace locate ls cat open "
    "display point compare give understand clarify outline count identify read view see analyze analyse print dir "
    "figure investigate explore enumerate name inform diagnose interpret elaborate recap visualize guess browse "
    "determine schau erkläre erklär erläutere zeige zeig suche such finde liste beschreibe fasse sag nenne "
    "explique expliquez montre cherche trouve décris résume dis explica muestra busca encuentra lista resume dime "
    "spiega mostra cerca trova elenca descrivi mostre procure encontre descreva explains erklären zeigen suchen "
    "expliquer explicar montrer buscar teach remind map"
)
VERBS = RUN | CREATE | EDIT | REFACTOR | REVIEW | DOCUMENT | EXPLAIN | word_set("clean merge")

#: Programs that people type by name, with what follows them.
PROGRAMS = word_set(
    "git npm npx pip pip3 pipx yarn pnpm bun docker docker-compose podman cargo kubectl helm terraform brew apt "
    "apt-get poetry uv conda mvn gradle dotnet rustup gh aws gcloud az sudo chmod mkdir rm cp mv touch echo "
    "systemctl ansible tsc deno composer bundle rake rails php artisan flutter"
)
#: Programs that are also words or names: a command only if what follows looks like one.
NAMES_TOO = word_set("python python3 node go make bash sh zsh ruby java perl cmake ninja just task")
CHECKERS = word_set(
    "pytest ruff mypy eslint prettier black flake8 pylint tox nox jest vitest mocha rspec phpunit clippy isort "
    "bandit pyright shellcheck golangci-lint make"
)
MAKE_TARGETS = word_set(
    "all test tests clean lint build install run dev check format fmt docs bench release deploy start help dist "
    "setup serve generate coverage ci watch package docker image up down migrate seed"
)

INDEFINITE = word_set(
    "a an new another some ein eine einen einem einer neue neues neuen un une una uno um uma uns nouveau"
)
DEFINITE = word_set(
    "the this that these those it its our my existing current them der die das den dem diese dieser dieses diesen "
    "mein meine meinen unser unsere le la les l' cette ce ces mon ma mes notre nos el los las esta este estas "
    "estos mi mis nuestro lo gli questa questo o os esse essa meu minha everything everywhere"
)
#: Where the object of a verb ends and something is said about it.
STOPS = word_set(
    "that which who for in to with of from into on by using so when if where called named as about under at "
    "through and but or because while after before during between across throughout without inside within via "
    "like per then für mit von zu nach auf der-die pour dans avec de du des sur à en con por para del que qui die"
)

PROJECTS = word_set(
    "project app application website webapp web-app site webpage game bot api server service microservice library "
    "package crate tool cli dashboard blog shop store clone extension plugin monorepo repo repository boilerplate "
    "skeleton starter backend frontend back-end front-end program portfolio prototype mvp platform system "
    "calculator landing chatbot crawler scraper compiler interpreter gem saas marketplace engine-game simulator "
    "editor board player viewer wiki-site projekt webseite anwendung spiel bibliothek programm seite webanwendung "
    "dienst projet jeu bibliothèque proyecto aplicación juego biblioteca página-web sitio progetto applicazione "
    "gioco sito projeto aplicativo jogo python-projekt apps games workspace template kata tracker shortener"
)
#: A thing inside a project: what is made is not a project.
PIECES = word_set(
    "function functions method methods class classes component components test tests testcase file files endpoint "
    "endpoints route routes field fields parameter argument flag option module button form helper helpers script "
    "hook handler model table column migration migrations constant variable enum interface type struct trait "
    "decorator fixture middleware view page pages modal dialog menu header footer sidebar icon config "
    "configuration dockerfile makefile workflow pipeline index query schema validator parser-function loop case "
    "cases property getter setter event listener worker job wrapper mixin subclass exception error message import "
    "link command subcommand funktion methode klasse datei feld fonction méthode classe fichier champ función "
    "método clase archivo funzione metodo função utility util util-function snippet regex stylesheet selector tab "
    "section-component toast spinner avatar widget card feature switch toggle setting settings key"
)
DOCS = word_set(
    "readme readme.md docs doc documentation docstring docstrings changelog changelog.md guide tutorial jsdoc "
    "javadoc tsdoc rustdoc godoc comments manual wiki how-to howto contributing contributing.md notes-release adr "
    "faq instructions handbook walkthrough-doc cookbook quickstart doku dokumentation kommentare anleitung "
    "handbuch documentación man documentazione documentação commentaires comentarios runbook post article "
    "specification api-docs license.md license licence conduct sphinx mkdocs"
)
#: Said of code that is to be better without doing anything else.
SHAPE = word_set(
    "quality dry maintain readable readability cleaner modular modularity maintainable maintainability "
    "duplication duplications duplicated duplicate duplicates inheritance composition complexity coupling "
    "cohesion spaghetti monolith pattern hierarchy chain if-else magic global testable reusable separate own "
    "smaller simpler structure dead code-smells boilerplate-code nested nesting redundant redundancy polymorphism "
    "globals decoupled elegant idiomatic throughout lesbarer lisible abstraction layering architecture"
)
#: What a review looks for.
FLAWS = word_set(
    "bug bugs wrong right practices conventions mistake mistakes flaw flaws vulnerability vulnerabilities "
    "vulnerable smell smells problem problems issue issues correct safe thread-safe secure security injection xss "
    "csrf race races leak leaks improved improvement improvements improve regression regressions weakness "
    "weaknesses feedback quality pitfalls risks risky bottleneck bottlenecks deadlock deadlocks inefficiencies "
    "concerns fehler schwachstellen robust antipatterns anti-patterns better broken-code break overflow overflows "
    "edge-cases reviewed sound loopholes suspicious erreurs errores bogues performance inefficient exploited "
    "exploitable properly correctly bad efficient good clean optimal okay ok fine weak fragile forgot missed "
    "overlooked forgotten secrets breaking dead once-over"
)
CODE = word_set(
    "implemented handled configured defined stored structured initialized code codebase code-base function "
    "functions method methods class classes module modules file files repo repository project package line lines "
    "variable variables test tests server endpoint endpoints handler config settings branch commit commits diff "
    "build queue cache script import imports dependency dependencies argument arguments parameter parameters "
    "decorator regex schema table query token session cookie flag loop component components database migration "
    "router model api cli command app application request response field column constructor constant constants "
    "error errors exception implementation stack trace directory folder folders workspace pr usages references "
    "callers worker scheduler logger parser selection snippet todo fixme stacktrace funktion klasse methode datei "
    "dateien modul projekt fonction classe méthode fichier función clase método archivo módulo proyecto modelo "
    "modèle tokens events event users user timeout upload uploads plugin plugins websocket connection logs log"
)
#: Questions about the world, not about this code.
WORLD = word_set(
    "tips interviews motivation concept difference pros cons best mean means recommend learn theorem invented "
    "book advice joke haiku poem story stand versus vs worth going teach better harder easier career interview "
    "you your yourself popular history opinion analogy five unterschied recommandes recomiendas principle "
    "principles paradigm weather ideas idea meaning bedeutet beginner sky universe life"
)
CHAT = word_set(
    "hi hello hey thanks thank thx ok okay yes no yep nope cool great nice bye goodbye lol haha sorry welcome "
    "awesome perfect good morning evening night danke hallo guten morgen tag bonjour salut merci hola gracias "
    "ciao grazie olá obrigado moin servus nevermind wow super sure well-done brilliant excellent thanks! tschüss "
    "yo sup greetings"
)
TROUBLE = word_set(
    "fault segmentation overflow crash crashes crashed crashing fails fail failed failing failure broken breaks "
    "bug error errors exception wrong incorrect incorrectly typo hangs hang freezes freeze leak leaks slow "
    "missing should must needs nothing doesn't don't isn't won't cannot can't undefined null traceback segfault "
    "flickers duplicates throws raises panics stuck misaligned overlaps outdated invalid ignores ignored "
    "shouldn't mustn't always never unexpectedly deprecated falsch kaputt fehler abstürzt stürzt plante erreur "
    "falla supposed unable warns rejects loses overflows timing-out timeouts ought loads"
)
TESTS = word_set("tests test suite specs pruebas testsuite build compile compiles builds linter ci checks pipeline")
PASS = word_set(
    "pass passes passing green compile compiles succeed succeeds build builds work works run runs running installed"
)
VERSION_CONTROL = word_set(
    "branch main master origin upstream remote tag git develop dev head commit commits latest changes pr repo staging"
)
NOT_A_PART = word_set(
    "is was are were should keeps fails crashes does has isn't doesn't can how what why vs versus or and"
)
#: Names with a capital in the middle that are no identifiers of anybody's code.
BRANDS = word_set(
    "javascript typescript github gitlab mongodb postgresql mysql graphql fastapi nextjs nodejs vscode youtube "
    "linkedin openai chatgpt devops restful iphone ios macos webassembly websocket websockets coffeescript nosql "
    "sqlite dynamodb rabbitmq stackoverflow whatsapp ipad latex powershell jquery paypal i/o tcp/ip ci/cd and/or "
    "async/await http/2 http/1.1 client/server a/b on/off yes/no true/false he/she win/loss read/write "
    "input/output todomvc opencv pytorch tensorflow numpy elasticsearch playstation bigquery"
)
#: What is asked of the machine, not of the code.
MACHINE = word_set("processes containers ports pods jobs-running environment-variables disk memory-usage cpu")
#: What is made by hand when one is told to build it.
HANDMADE = word_set(
    "page pages form component screen function feature class modal dialog menu header footer sidebar view ui"
)
LANGUAGES = word_set(
    "python go golang rust javascript typescript java kotlin swift c c++ c# ruby php react vue svelte angular "
    "electron flask django fastapi express next.js nextjs node.js node rails laravel flutter hugo astro tailwind "
    "html css"
)
#: Said of changes, where they are forbidden.
CHANGES = (
    EDIT
    | CREATE
    | REFACTOR
    | word_set(
        "anything code files changing modifying editing touching touch changes edits modifications alter writing "
        "fixing refactoring ändern verändern changer modifier cambiar tocar cambios modificar"
    )
)
#: Made by programs: who deletes it wants it made anew.
GENERATED = word_set("node_modules dist venv .venv __pycache__ target build cache")
