//! The ledger against a model of a few lines: random operations, with every outcome and every
//! balance compared after each.

use super::tests::{
    ACCOUNT, KEY, account, debit, hold, key, load, mint, only, refund, release, settle, sound, started,
};
use super::*;
use crate::accounts::api_key;
use crate::clock::{Clock, UnixMs};
use crate::test_database::databases;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
enum ModelOperation {
    Grant(i64),
    Purchase(u8, i64),
    Debit(i64),
    Hold(u8, i64),
    Settle(u8),
    Release(u8),
    Mint(Vec<u8>, i64),
    Load(u8),
    Refund(u8),
    /// Sets or removes the key's cap.
    Cap(Option<i64>),
    /// Several operations at once, so that they share a transaction.
    Together(Vec<ModelOperation>),
}

/// Operations that the meter carries out.
fn metered() -> impl Strategy<Value = ModelOperation> {
    let id = 0..6u8;
    prop_oneof![
        (1..4i64).prop_map(ModelOperation::Debit),
        (id.clone(), 1..5i64).prop_map(|(id, credits)| ModelOperation::Hold(id, credits)),
        id.clone().prop_map(ModelOperation::Settle),
        id.clone().prop_map(ModelOperation::Release),
        (proptest::collection::btree_set(id.clone(), 1..4), 0..3i64)
            .prop_map(|(ids, uses)| ModelOperation::Mint(ids.into_iter().collect(), uses)),
        id.clone().prop_map(ModelOperation::Load),
        id.prop_map(ModelOperation::Refund),
    ]
}

fn operations() -> impl Strategy<Value = Vec<ModelOperation>> {
    let added = prop_oneof![
        (1..20i64).prop_map(ModelOperation::Grant),
        (0..3u8, 1..3i64).prop_map(|(payment, credits)| ModelOperation::Purchase(payment, credits)),
        proptest::option::weighted(0.8, 1..20i64).prop_map(ModelOperation::Cap),
    ];
    let together = proptest::collection::vec(metered(), 2..6).prop_map(ModelOperation::Together);
    proptest::collection::vec(prop_oneof![6 => metered(), 2 => added, 1 => together], 1..40)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HoldState {
    Open {
        credits: i64,
        /// True if the hold counts against the key's cap.
        is_counted: bool,
    },
    Ended,
}

#[derive(Debug, Clone, Copy)]
struct ModelUrl {
    max_uses: i64,
    uses: i64,
    consumed: bool,
    is_counted: bool,
}

/// The expected state of the ledger, kept without a database.
#[derive(Debug, Clone, Default)]
struct Model {
    balance: i64,
    spent: i64,
    images: i64,
    holds: BTreeMap<u8, HoldState>,
    urls: BTreeMap<u8, ModelUrl>,
    payments: BTreeMap<u8, i64>,
    cap: Option<i64>,
    /// Credits that count against the cap.
    counted: i64,
    /// Credits of images that were delivered.
    delivered: i64,
}

impl Model {
    fn covers(&self, credits: i64) -> Result<(), ChargeOutcome> {
        let balance = Credits(self.balance);
        match self.cap {
            Some(cap) if self.counted + credits > cap => {
                Err(ChargeOutcome::OverCap { balance, cap: Credits(cap), spent: Credits(self.counted) })
            }
            _ if credits > self.balance => Err(ChargeOutcome::Insufficient { balance }),
            _ => Ok(()),
        }
    }

    /// Sets the cap. A first cap counts what was taken already: images, signed URLs, and holds that
    /// were counted before an earlier cap was removed.
    fn set_cap(&mut self, cap: Option<i64>) {
        if cap.is_some() && self.cap.is_none() {
            let urls = self.urls.values().filter(|url| !url.consumed).count() as i64;
            let held = |hold: &HoldState| match hold {
                HoldState::Open { credits, is_counted: true } => *credits,
                _ => 0,
            };
            self.counted = self.delivered + urls + self.holds.values().map(held).sum::<i64>();
        }
        self.cap = cap;
    }

    fn take(&mut self, credits: i64) -> Result<(), ChargeOutcome> {
        self.covers(credits)?;
        if self.cap.is_some() {
            self.counted += credits;
        }
        self.balance -= credits;
        self.spent += credits;
        Ok(())
    }

    fn give_back(&mut self, credits: i64, is_counted: bool) {
        self.balance += credits;
        self.spent -= credits;
        if is_counted {
            self.counted = (self.counted - credits).max(0);
        }
    }

    fn done(&self) -> ChargeOutcome {
        ChargeOutcome::Done { remaining: Some(Credits(self.balance)) }
    }

    /// Returns the outcome of an operation of the meter. `None` if the database refuses the
    /// operation because its id is taken.
    fn apply(&mut self, operation: &ModelOperation) -> Option<ChargeOutcome> {
        let result = match operation {
            ModelOperation::Debit(credits) => self.take(*credits).map(|()| {
                self.images += 1;
                self.delivered += credits;
            }),
            // Only an operation that can be paid for gets as far as writing its row.
            ModelOperation::Hold(id, credits) if self.holds.contains_key(id) && self.covers(*credits).is_ok() => {
                return None;
            }
            ModelOperation::Hold(id, credits) => self.take(*credits).map(|()| {
                self.holds.insert(*id, HoldState::Open { credits: *credits, is_counted: self.cap.is_some() });
            }),
            ModelOperation::Settle(id) | ModelOperation::Release(id) => match self.holds.get(id).copied() {
                Some(HoldState::Open { credits, is_counted }) => {
                    self.holds.insert(*id, HoldState::Ended);
                    if let ModelOperation::Release(_) = operation {
                        self.holds.remove(id);
                        self.give_back(credits, is_counted);
                    } else {
                        self.images += 1;
                        self.delivered += credits;
                    }
                    Ok(())
                }
                _ => Err(ChargeOutcome::HoldNotOpen),
            },
            ModelOperation::Mint(ids, _)
                if ids.iter().any(|id| self.urls.contains_key(id)) && self.covers(ids.len() as i64).is_ok() =>
            {
                return None;
            }
            ModelOperation::Mint(ids, max_uses) => self.take(ids.len() as i64).map(|()| {
                let is_counted = self.cap.is_some();
                for id in ids {
                    self.urls.insert(*id, ModelUrl { max_uses: *max_uses, uses: 0, consumed: false, is_counted });
                }
            }),
            ModelOperation::Load(id) => match self.urls.get_mut(id) {
                Some(url) if !url.consumed && (url.max_uses == 0 || url.uses < url.max_uses) => {
                    url.uses += 1;
                    self.images += 1;
                    return Some(ChargeOutcome::Done { remaining: None });
                }
                _ => Err(ChargeOutcome::DeliveryUrlClosed),
            },
            ModelOperation::Refund(id) => match self.urls.get_mut(id) {
                Some(url) if !url.consumed && url.uses == 0 => {
                    url.consumed = true;
                    let is_counted = url.is_counted;
                    self.give_back(1, is_counted);
                    Ok(())
                }
                _ => Err(ChargeOutcome::DeliveryUrlClosed),
            },
            ModelOperation::Grant(_)
            | ModelOperation::Purchase(..)
            | ModelOperation::Cap(_)
            | ModelOperation::Together(_) => return None,
        };
        Some(result.map_or_else(|refused| refused, |()| self.done()))
    }
}

fn entry(operation: &ModelOperation, is_capped: bool) -> MeterRequest {
    MeterRequest { capped_key_id: is_capped.then(|| KEY.to_owned()), ..charge(operation) }
}

fn charge(operation: &ModelOperation) -> MeterRequest {
    let name = |kind: &str, id: u8| format!("{kind}-{id}");
    match operation {
        ModelOperation::Debit(credits) => debit(ACCOUNT, *credits),
        ModelOperation::Hold(id, credits) => hold(&name("hold", *id), *credits),
        ModelOperation::Settle(id) => settle(&name("hold", *id)),
        ModelOperation::Release(id) => release(&name("hold", *id)),
        ModelOperation::Mint(ids, max_uses) => {
            let ids: Vec<String> = ids.iter().map(|id| name("url", *id)).collect();
            mint(&ids.iter().map(String::as_str).collect::<Vec<_>>(), *max_uses)
        }
        ModelOperation::Load(id) => load(&name("url", *id)),
        ModelOperation::Refund(id) => refund(&name("url", *id)),
        ModelOperation::Grant(_)
        | ModelOperation::Purchase(..)
        | ModelOperation::Cap(_)
        | ModelOperation::Together(_) => only(Charge::Nothing),
    }
}

async fn agree(database: &crate::db::Database, operations: &[ModelOperation]) {
    account(database, ACCOUNT, 0).await;
    key(database).await;
    let (meter, _) = started(database).await;
    let mut model = Model::default();
    for (step, operation) in operations.iter().enumerate() {
        match operation {
            ModelOperation::Grant(credits) => {
                let mut tx = database.begin().await.expect("begins");
                let after = grant(&mut tx, ACCOUNT, Credits(*credits), "test", UnixMs(1)).await.expect("grants");
                tx.commit().await.expect("commits");
                model.balance += credits;
                assert_eq!(after, Credits(model.balance), "step {step}");
            }
            ModelOperation::Purchase(payment, credits) => {
                let reference = format!("payment-{payment}");
                let bought = ReceivedPayment { reference: &reference, credits: Credits(*credits), reason: "test" };
                let mut tx = database.begin().await.expect("begins");
                let told = purchase(&mut tx, ACCOUNT, bought, UnixMs(1)).await;
                match model.payments.get(payment) {
                    None => {
                        tx.commit().await.expect("commits");
                        model.payments.insert(*payment, *credits);
                        model.balance += credits;
                        assert_eq!(told.expect("new"), (Credits(model.balance), true), "step {step}");
                    }
                    Some(known) if known == credits => {
                        tx.commit().await.expect("commits");
                        assert_eq!(told.expect("known"), (Credits(model.balance), false), "step {step}");
                    }
                    Some(_) => {
                        tx.rollback().await.expect("rolls back");
                        assert!(matches!(told, Err(LedgerError::ReferenceTaken(_))), "step {step}");
                    }
                }
            }
            ModelOperation::Cap(cap) => {
                let set = set_key_cap(database, KEY, cap.map(Credits), Clock::SYSTEM.now()).await.expect("sets");
                assert!(set, "step {step}");
                model.set_cap(*cap);
            }
            // The meter chooses which of them comes first; their total effect is compared below.
            ModelOperation::Together(several) => {
                let answers = several.iter().map(|operation| meter.submit(entry(operation, model.cap.is_some())));
                let answers = futures::future::join_all(answers).await;
                follow(&mut model, several, &answers);
            }
            _ => {
                let answer =
                    meter.submit(entry(operation, model.cap.is_some())).await.ok().map(|metered| metered.outcome);
                assert_eq!(answer, model.apply(operation), "step {step}: {operation:?}");
            }
        }
        let now = balance(&database.readers, ACCOUNT).await.expect("reads");
        assert_eq!(now, Credits(model.balance), "step {step}: {operation:?}");
        if let Some(cap) = model.cap {
            let counted = api_key::cap(database, KEY, Clock::SYSTEM.now()).await.expect("reads");
            assert_eq!(
                counted,
                Some(KeyCap { cap: Credits(cap), spent: Credits(model.counted) }),
                "step {step}: {operation:?}"
            );
        }
    }
    sound(database).await;
    let used = usage_30d(&database.readers, ACCOUNT, Clock::SYSTEM.now()).await.expect("reads");
    assert_eq!((used.credits_spent, used.images), (model.spent, model.images));
    let lines = statement(&database.readers, ACCOUNT, None, 10_000).await.expect("reads");
    let held = model.holds.values().map(|hold| match hold {
        HoldState::Open { credits, .. } => *credits,
        HoldState::Ended => 0,
    });
    assert_eq!(lines.last().map_or(0, |line| line.balance), model.balance + held.sum::<i64>());
}

/// Applies operations to the model that were done in an order of the meter's choosing, and checks
/// that some order explains every answer.
fn follow(model: &mut Model, several: &[ModelOperation], answers: &[Result<MeterAnswer, MeterError>]) {
    let done = |answer: &Result<MeterAnswer, MeterError>| {
        answer.as_ref().is_ok_and(|metered| matches!(metered.outcome, ChargeOutcome::Done { .. }))
    };
    // Operations that give come before those that take, as in the meter; the rest keeps its order.
    let gives = |operation: &ModelOperation| {
        matches!(operation, ModelOperation::Release(_) | ModelOperation::Refund(_) | ModelOperation::Settle(_))
    };
    let mut left: Vec<usize> = (0..several.len()).filter(|index| done(&answers[*index])).collect();
    left.sort_by_key(|index| !gives(&several[*index]));
    while !left.is_empty() {
        let possible = left.iter().position(|index| {
            let mut trial = model.clone();
            matches!(trial.apply(&several[*index]), Some(ChargeOutcome::Done { .. }))
        });
        let place = possible.unwrap_or_else(|| panic!("no order explains {several:?} with {answers:?}"));
        model.apply(&several[left.remove(place)]);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "who runs the test says how many cases it tries")]
fn whatever_happens_the_ledger_is_what_the_model_says() {
    let cases = std::env::var("CYCLORAMA_LEDGER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(48);
    let runtime = tokio::runtime::Runtime::new().expect("runtime");
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let found = runner.run(&operations(), |operations| {
        runtime.block_on(async {
            for database in databases().await {
                agree(&database, &operations).await;
            }
        });
        Ok(())
    });
    if let Err(found) = found {
        panic!("{found}");
    }
}
