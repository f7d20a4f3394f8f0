//! The operator's command line, in the forms other programs rely on (DESIGN: operator surface).

use cyclorama_tests::{Behaviour, DatabaseChoice, FakeNode, Service, on_both_databases};
use reqwest::StatusCode;

on_both_databases! {
    async fn accounts_keys_and_tokens(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let made = service.operator(&["account", "create", "--email", "a@example.com", "--credits", "7"]).unwrap();
        let account = made["account_id"].as_str().unwrap();
        let granted = service.operator(&["account", "grant", account, "5", "--reason", "kindness"]).unwrap();
        assert_eq!(granted["credits"], 12);
        let key = service
            .operator(&["key", "create", "--account", account, "--name", "shop", "--scopes", "images:read,account:read", "--rate-limit", "3"])
            .unwrap();
        assert!(key["key"].as_str().unwrap().starts_with("cyc_"));
        let token = service.operator(&["node-token", "create", "--name", "gpu-1"]).unwrap();
        assert!(token["token"].as_str().unwrap().starts_with("cycn_"));
        assert!(service.operator(&["account", "create", "--email", "not an address"]).is_err());
        assert!(service.operator(&["account", "create", "--email", "a@example.com"]).is_err(), "taken");
        assert!(service.operator(&["key", "create", "--account", "nobody"]).is_err());
        assert!(service.operator(&["key", "create", "--account", account, "--scopes", "everything"]).is_err());
        assert!(service.operator(&["account", "grant", account, "0", "--reason", "x"]).is_err());
    }

    async fn an_account_is_found_by_its_address_and_its_keys_are_listed(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let made = service.operator(&["account", "create", "--email", "Ada@Example.com", "--credits", "7"]).unwrap();
        let account = made["account_id"].as_str().unwrap();
        let shown = service.operator(&["account", "show", " ada@example.COM"]).unwrap();
        assert_eq!((shown["account_id"].as_str(), &shown["credits"]), (Some(account), &serde_json::json!(7)));
        assert_eq!(service.operator(&["account", "show", account]).unwrap(), shown);
        let none = service.operator(&["key", "list", "--account", account]).unwrap();
        assert_eq!(none["keys"], serde_json::json!([]));
        let create = ["key", "create", "--account", "ada@example.com", "--name", "shop", "--scopes", "images:read", "--monthly-cap", "9"];
        let key = service.operator(&create).unwrap();
        service.operator(&["key", "create", "--account", account, "--name", "old"]).unwrap();
        let revoked = service.operator(&["key", "list", "--account", account]).unwrap()["keys"][0]["key_id"].as_str().unwrap().to_owned();
        service.operator(&["key", "revoke", &revoked]).unwrap();
        let listed = service.operator(&["key", "list", "--account", "ada@example.com"]).unwrap();
        assert_eq!(listed["keys"].as_array().unwrap().len(), 2, "{listed}");
        let (old, shop) = (&listed["keys"][0], &listed["keys"][1]);
        assert_eq!((&old["name"], &old["is_revoked"]), (&serde_json::json!("old"), &serde_json::json!(true)));
        assert_eq!((&shop["key_id"], &shop["scopes"]), (&key["key_id"], &serde_json::json!(["images:read"])));
        assert_eq!((&shop["monthly_cap_credits"], &shop["last_used_at"]), (&serde_json::json!(9), &serde_json::Value::Null));
        assert!(!listed.to_string().contains(key["key"].as_str().unwrap()), "no secrets");
        service.operator(&["account", "grant", "ada@example.com", "5", "--reason", "kindness"]).unwrap();
        assert_eq!(service.operator(&["account", "show", "ada@example.com"]).unwrap()["credits"], 12);
        assert!(!service.operator(&["account", "statement", "ada@example.com"]).unwrap().as_array().unwrap().is_empty());
        for nobody in ["bob@example.com", "@", "nobody"] {
            assert!(service.operator(&["account", "show", nobody]).is_err(), "{nobody}");
            assert!(service.operator(&["key", "list", "--account", nobody]).is_err(), "{nobody}");
        }
    }

    async fn nodes_and_budget(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let listed = service.operator(&["node", "list"]).unwrap();
        assert!(listed.to_string().contains(&node.node_id), "{listed}");
        assert!(listed.to_string().contains("builtin"), "pipelines are shown: {listed}");
        service.operator(&["budget", "set", "--usd-per-day", "12.5"]).unwrap();
        let shown = service.operator(&["budget", "show"]).unwrap();
        assert!(shown.to_string().contains("12.5"), "{shown}");
        assert!(service.operator(&["node", "drain", "no-such-node"]).is_err());
    }

    async fn health_and_readiness_need_no_token(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        for path in ["/healthz", "/readyz"] {
            assert_eq!(service.visit(path).send().await.unwrap().status(), StatusCode::OK, "{path}");
        }
        let health: serde_json::Value = service.visit("/api/health").send().await.unwrap().json().await.unwrap();
        assert_eq!(health["status"], "ok");
    }

    async fn secrets_stay_out_of_the_log(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let _node = FakeNode::join(&service, Behaviour::Deliver).await.unwrap();
        let customer = service.customer(5).unwrap();
        let token = service.node_token().unwrap();
        let car = "/api/v1/images/car?make=mazda&model=mx-5&year=2020";
        service.get(&customer, car).send().await.unwrap();
        service.visit(&format!("{car}&key={}", customer.key)).send().await.unwrap();
        service.visit(car).header("x-api-key", &customer.key).send().await.unwrap();
        let log = service.log();
        assert!(log.contains("/api/v1/images/car"), "requests are logged");
        for secret in [&customer.key, &token] {
            assert!(!log.contains(secret.as_str()), "a secret is in the log");
        }
    }

    async fn ledger_verify_finds_a_credit_from_nowhere(db: DatabaseChoice) {
        let service = Service::start(db).await.unwrap();
        let customer = service.customer(7).unwrap();
        assert_eq!(service.operator(&["ledger", "verify"]).unwrap()["sound"], true);
        sqlx::any::install_default_drivers();
        let pool = sqlx::AnyPool::connect(service.database_url()).await.unwrap();
        let add = "update balances set credits = credits + $1 where account_id = $2";
        let change = async |by: i64| {
            sqlx::query(add).bind(by).bind(&customer.account_id).execute(&pool).await.unwrap();
        };
        change(1).await;
        let refusal = service.operator(&["ledger", "verify"]).unwrap_err().to_string();
        assert!(refusal.contains("balances differ") && refusal.contains(&customer.account_id), "{refusal}");
        change(-1).await;
        assert_eq!(service.operator(&["ledger", "verify"]).unwrap()["sound"], true);
    }
}
