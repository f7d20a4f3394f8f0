//! One trace from the caller of a cold image to the stages of its render.

use crate::traces::{CALLER, REQUEST, named, traced};
use cyclorama_tests::{Collector, DatabaseChoice, Service, on_both_databases, secrets};
use reqwest::StatusCode;
use std::time::Duration;

const RESULT: &str = "POST /node/v1/jobs/{job_id}/result";

on_both_databases! {
    async fn a_cold_picture_is_one_trace_from_its_caller_to_the_stages_of_its_render(db: DatabaseChoice) {
        let collector = Collector::open().await.unwrap();
        let service = Service::start_with(db, traced(&collector.endpoint).with_embedded_node()).await.unwrap();
        let customer = service.customer(2).unwrap();
        let (trace_id, caller_id) = CALLER;
        let car = async |query: &str| {
            let request = service.get(&customer, &format!("/api/v1/images/car?{query}")).timeout(Duration::from_secs(180));
            request.header("traceparent", format!("00-{trace_id}-{caller_id}-01")).send().await.unwrap()
        };
        let answer = car("make=honda&model=civic&year=2020&color=red").await;
        assert_eq!(answer.status(), StatusCode::OK, "{}", service.log());
        let request_id = answer.headers()["x-request-id"].to_str().unwrap().to_owned();
        // The same vehicle in another colour: only paint, and the stages that a paint job has.
        assert_eq!(car("make=honda&model=civic&year=2020&color=blue").await.status(), StatusCode::OK);
        let spans = collector.wait_for(trace_id, &["paint", "fetch"]).await.unwrap();

        let request = spans.iter().find(|span| span.attributes.get("cyclorama.request_id") == Some(&request_id)).unwrap();
        assert_eq!((request.name.as_str(), request.service.as_str()), (REQUEST, "cyclorama"));
        assert_eq!(request.parent_id, caller_id);
        assert_eq!(request.attributes["http.response.status_code"], "200");
        let render = named(&spans, "render");
        assert_eq!((render.service.as_str(), &render.attributes["cyclorama.vehicle"]), ("cyclorama-node", &"honda/civic/2020".to_owned()));
        let stages = ["geometry", "gbuffer", "diffusion", "gate", "compose", "encode", "upload"];
        let calls = [("queued", request), ("render", request), (RESULT, render)];
        for (child, parent) in calls.into_iter().chain(stages.map(|stage| (stage, render))) {
            let child = spans.iter().find(|span| span.name == child && span.parent_id == parent.span_id);
            let child = child.unwrap_or_else(|| panic!("no `{child:?}` inside `{}`: {spans:#?}", parent.name));
            // The client may have its image before the node has the answer to its result.
            assert!(child.name == "render" || child.nanoseconds <= parent.nanoseconds, "{child:?} outlasts {parent:?}");
        }
        assert!(named(&spans, "gbuffer").nanoseconds > 1_000_000, "a stage lasts as long as it took");
        let told = format!("{:?}", collector.spans());
        assert_eq!(secrets::leak(&told), None);
        // Probes, and a node's requests outside of a job, would outnumber everything else.
        assert!(!["readyz", "/leases", "/heartbeat", "/uploads"].iter().any(|noise| told.contains(noise)), "{told}");
    }
}
