//! The command line as a service's customers use it: login, images, signed URLs, the catalog, and
//! exit statuses. Lists of images are tested in `batches`.

use crate::terminal::Terminal;
use cyclorama_tests::{Behaviour, Browser, DatabaseChoice, FakeNode, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

on_both_databases! {
    async fn a_person_logs_a_machine_in_and_out(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let terminal = Terminal::new(&service);
        let mut login = terminal.command(&["login", "--name", "ada's laptop"]).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(login.stderr.take().unwrap()).lines();
        let opened = told.next_line().await.unwrap().unwrap();
        let page = opened.strip_prefix(&format!("Open {}", service.base_url)).unwrap().to_owned();
        let mut browser = Browser::new(&service);
        let made = browser.sign_up("ada@example.com", "a long password").await.unwrap();
        assert_eq!(made.status, StatusCode::SEE_OTHER, "{}", made.text());
        assert!(browser.get(&page).await.unwrap().text().contains("ada's laptop"));
        assert!(browser.submit(&page, "/device", &[("decision", "approve")]).await.unwrap().text().contains("Approved"));
        let done = login.wait_with_output().await.unwrap();
        let printed = String::from_utf8(done.stdout).unwrap();
        assert!(done.status.success() && printed.contains("Logged in at"), "{printed}");

        // The key is in one file, readable by its owner alone, and was not printed.
        let file = terminal.path("config/cyclorama/credentials.json");
        let stored: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let key = stored["keys"][&service.base_url].as_str().unwrap();
        assert!(key.starts_with("cyc_"));
        secrets::note(key);
        assert!(!printed.contains("cyc_") && secrets::leak(&printed).is_none());
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));

        // Commands that name no service use that of the login.
        let mut elsewhere = Terminal::new(&service);
        elsewhere.set("XDG_CONFIG_HOME", terminal.path("config").display());
        elsewhere.unset("CYCLORAMA_URL");
        let account = elsewhere.run(&["whoami", "--json"]).await.json();
        assert_eq!((&account["data"]["credits"], account["data"]["key"]["scopes"].as_array().unwrap().len()), (&100.into(), 3));
        let shown = elsewhere.run(&["whoami"]).await.success();
        assert!(shown.contains(&format!("service       {}\n", service.base_url)) && shown.contains("(from login)"), "{shown}");
        let got = elsewhere.run(&["get", "honda", "civic", "2018"]).await;
        assert!(got.stderr.contains("1 credit charged, 99 left"), "{}", got.stderr);

        // A program that an agent's host starts finds the key as well.
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "get_account", "arguments": {} } });
        let mut bridge = elsewhere.command(&["mcp", "--stdio", "--url", &service.base_url]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        bridge.stdin.take().unwrap().write_all(format!("{call}\n").as_bytes()).await.unwrap();
        let answered: Value = serde_json::from_slice(&bridge.wait_with_output().await.unwrap().stdout).unwrap();
        assert!(answered["result"]["structuredContent"].to_string().contains("\"credits\":99"), "{answered}");

        // A key in the environment takes precedence.
        elsewhere.set("CYCLORAMA_KEY", "cyc_wrong");
        assert_eq!(elsewhere.run(&["whoami"]).await.status, 4);
        elsewhere.unset("CYCLORAMA_KEY");
        assert_eq!(elsewhere.run(&["logout", "--json"]).await.json()["had_key"], true);
        let refused = terminal.run(&["whoami"]).await;
        assert!(refused.status == 4 && refused.stderr.contains("cyclorama login"), "{}", refused.stderr);
        assert!(terminal.run(&["logout"]).await.success().contains("There was no key"));
    }

    async fn pictures_cost_what_is_said(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(20).unwrap();
        let mut terminal = Terminal::new(&service);
        terminal.set("CYCLORAMA_KEY", &customer.key);
        let format_of = |bytes: &[u8]| image::guess_format(bytes).unwrap();

        // The file's name decides the format; without a name, the file is named after the vehicle.
        let got = terminal.run(&["get", "Honda", "Civic", "2018", "--color", "red", "--size", "small", "-o", "a.webp"]).await;
        assert_eq!(got.stderr, "a.webp: 512 x 512 px, image/webp, 1 credit charged, 19 left\n");
        assert_eq!(format_of(&std::fs::read(terminal.path("a.webp")).unwrap()), image::ImageFormat::WebP);
        terminal.run(&["get", "Honda", "Civic", "2018"]).await.success();
        assert_eq!(format_of(&std::fs::read(terminal.path("honda-civic-2018.png")).unwrap()), image::ImageFormat::Png);
        let got = terminal.run(&["get", "honda", "civic", "2018", "-o", "-", "--format", "jpg", "--json"]).await;
        assert_eq!(format_of(&got.stdout), image::ImageFormat::Jpeg);
        let told: Value = serde_json::from_str(&got.stderr).unwrap();
        assert_eq!((&told["credits_charged"], &told["credits_remaining"]), (&1.into(), &17.into()));

        // A request that cannot succeed fails before it costs anything.
        for (arguments, status, told) in [
            (&["get", "honda", "civik", "2018"][..], 5, "Did you mean: honda "),
            (&["get", "honda", "civic", "2018", "--color", "octarine"], 2, "octarine"),
            (&["get", "honda", "civic", "2018", "-o", "no/such/folder/a.png"], 1, "no/such/folder/a.png"),
            (&["get", "honda", "civic", "soon"], 2, "soon"),
            (&["url", "honda", "civic", "2018", "--ttl", "1"], 2, "ttl_seconds"),
            (&["url", "honda", "civic", "2018", "--html", "--uses", "1"], 2, "--uses"),
            (&["whoami", "--url", "nowhere"], 2, "URL of the service"),
            (&["whoami", "--url", "http://127.0.0.1:9"], 6, "responds"),
        ] {
            let refused = terminal.run(arguments).await;
            assert_eq!(refused.status, status, "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
        }
        assert_eq!(service.balance(&customer).await.unwrap(), 17);
        let problem: Value = serde_json::from_str(&terminal.run(&["get", "honda", "civik", "2018", "--json"]).await.stderr).unwrap();
        assert_eq!((&problem["code"], &problem["status"]), (&"vehicle_not_found".into(), &404.into()));

        // Signed URLs contain no key and are paid for once.
        let once = ["url", "honda", "civic", "2018", "--widths", "256,512", "--idempotency-key", "page"];
        let made = terminal.run(&once).await;
        assert!(made.stderr.starts_with("2 credits charged, 15 left; loads are free until 20"), "{}", made.stderr);
        let text = made.success();
        assert_eq!(terminal.run(&once).await.success(), text);
        for address in text.lines() {
            assert_eq!(service.http.get(address).send().await.unwrap().status(), StatusCode::OK);
        }
        let element = terminal.run(&["url", "honda", "civic", "2018", "--widths", "256,512", "--html"]).await.success();
        assert!(element.starts_with("<img src=\"http") && element.contains(" 256w, ") && element.contains("alt=\"Silver 2018 Honda Civic"), "{element}");
        assert_eq!(service.balance(&customer).await.unwrap(), 13);

        // Without credits, and without the scope.
        let broke = service.customer(0).unwrap();
        terminal.set("CYCLORAMA_KEY", &broke.key);
        let refused = terminal.run(&["get", "honda", "civic", "2018"]).await;
        assert!(refused.status == 3 && refused.stderr.contains(&format!("Buy credits: {}", service.base_url)), "{}", refused.stderr);
        let made = service.operator(&["key", "create", "--account", &broke.account_id, "--scopes", "account:read"]).unwrap();
        terminal.set("CYCLORAMA_KEY", made["key"].as_str().unwrap());
        assert_eq!(terminal.run(&["get", "honda", "civic", "2018"]).await.status, 4);
    }

    async fn the_free_ones(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(3).unwrap();
        let mut terminal = Terminal::new(&service);
        // Public commands need no key.
        let found = terminal.run(&["search", "honda", "civic", "--year", "2018", "--limit", "1"]).await.success();
        assert!(found.starts_with("honda  civic  passenger-car  ") && found.lines().count() == 1, "{found}");
        assert_eq!(terminal.run(&["search", "honda", "civic", "--json"]).await.json()["data"]["results"][0]["make_slug"], "honda");
        let options = terminal.run(&["options"]).await.success();
        assert!(options.contains("front-3-4, side,") && options.contains("burgundy, purple") && options.contains("thumb 256, small 512"), "{options}");
        assert_eq!(terminal.run(&["options", "--json"]).await.json()["data"]["sizes"]["max"], 1024);
        let unwell = terminal.run(&["doctor", "--url", &service.base_url]).await;
        assert!(unwell.status == 1 && unwell.text().contains("FAIL key"), "{}", unwell.text());

        terminal.set("CYCLORAMA_KEY", &customer.key);
        let resolved = terminal.run(&["resolve", "navy", "honda", "civic", "2018", "from", "behind"]).await.success();
        assert!(resolved.contains("vehicle     Honda Civic 2018\n") && resolved.ends_with("cyclorama get honda civic 2018 --view rear --color blue\n"), "{resolved}");
        assert_eq!(terminal.run(&["resolve", "red civic 2018", "--json"]).await.json()["data"]["params"]["color"], "red");
        assert_eq!(terminal.run(&["resolve", "zzzz qqqq"]).await.status, 5);
        let resolved = terminal.run(&["resolve", "--vin", "1HGCM82633A004352"]).await.success();
        assert!(resolved.contains("Honda Accord 2003\n") && resolved.contains("\nbody        coupe\n"), "{resolved}");
        assert!(resolved.ends_with("cyclorama get honda accord 2003 --body coupe --view front-3-4 --color silver\n"), "{resolved}");
        for (arguments, status, told) in [
            (&["resolve", "--vin", "1HGCM82633AO04352"][..], 2, "Did you mean: 1HGCM82633A004352"),
            (&["resolve", "--vin", "1HGCM82633A004352", "accord"], 2, "--vin"),
            (&["resolve"], 2, "WORDS"),
        ] {
            let refused = terminal.run(arguments).await;
            assert_eq!(refused.status, status, "{arguments:?}: {}", refused.stderr);
            assert!(refused.stderr.contains(told), "{arguments:?}: {}", refused.stderr);
        }
        let got = terminal.run(&["get", "honda", "civic", "2018", "--json"]).await.json();
        let rated = ["feedback", "--request-id", got["request_id"].as_str().unwrap(), "--rating", "5", "--reason", "as ordered"];
        assert_eq!(terminal.run(&rated).await.success(), "Recorded.\n");
        let rated = ["feedback", "--make", "honda", "--model", "civic", "--year", "2018", "--verdict", "good", "--json"];
        assert_eq!(terminal.run(&rated).await.json()["data"]["recorded"], true);
        assert_eq!(terminal.run(&["feedback", "--make", "honda", "--rating", "5"]).await.status, 2);
        let well = terminal.run(&["doctor", "--url", &service.base_url, "--json"]).await.json();
        let names: Vec<&str> = well["checks"].as_array().unwrap().iter().map(|check| check["name"].as_str().unwrap()).collect();
        assert_eq!((names, &well["ok"]), (vec!["service", "clock", "key", "scopes", "credits", "catalog"], &true.into()));
        assert_eq!(service.balance(&customer).await.unwrap(), 2, "one picture, and nothing else");
        assert_eq!(terminal.run(&["doctor", "--url", "http://127.0.0.1:9"]).await.status, 1);

        // Snippets name the service and the place of the key, never the key.
        for (by, number) in [("stdio", 6), ("http", 5)] {
            let listed = terminal.run(&["agent-config", "--by", by, "--json"]).await.json();
            let listed = listed.as_array().unwrap();
            assert_eq!(listed.len(), number);
            for snippet in listed {
                let content = snippet["content"].as_str().unwrap();
                assert!(content.contains(&service.base_url) && (by == "stdio" || content.contains("/api/mcp")), "{content}");
                if !snippet["file"].as_str().unwrap().ends_with(".toml") {
                    serde_json::from_str::<Value>(content).unwrap();
                }
            }
        }
        assert_eq!(terminal.run(&["agent-config", "claude-desktop", "--by", "http"]).await.status, 2);
        let one = terminal.run(&["agent-config", "claude-code"]).await.success();
        assert_eq!(serde_json::from_str::<Value>(&one).unwrap()["mcpServers"]["cyclorama"]["args"][0], "mcp");
    }
}
