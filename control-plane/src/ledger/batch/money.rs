//! Changes of balances by a batch: it gives released credits back, then takes debits and
//! holds by guarded updates, account by account. The credits taken must also fit in the caps
//! of the requesting keys.

use crate::clock::UnixMs;
use crate::db::Tx;
use crate::ledger::balance::{self, BalanceChange, Book};
use crate::ledger::ended::EndedHold;
use crate::ledger::key_cap::{Caps, KeyCap};
use crate::ledger::{Charge, ChargeOutcome, Credits, MeterRequest};
use std::collections::BTreeMap;

impl BalanceChange {
    /// Returns the change that a request of a batch makes to its account's row.
    pub fn of(charge: &Charge, ended: Option<&EndedHold>) -> Self {
        let ended = ended.map_or(0, |ended| ended.credits.0);
        let asked = charge.asks().0;
        let (credits, held, entries) = match charge {
            Charge::Nothing | Charge::Read { .. } | Charge::Load { .. } => (0, 0, 0),
            Charge::Debit { .. } | Charge::Mint { .. } => (-asked, 0, 1),
            Charge::Hold { .. } => (-asked, asked, 0),
            Charge::Settle { .. } => (0, -ended, 1),
            Charge::Release { .. } => (ended, -ended, 0),
            Charge::Refund { .. } => (ended, 0, 1),
        };
        BalanceChange { credits, held, entries }
    }

    /// Returns the credits of the ledger row for this change, if it adds one.
    pub fn entered(self) -> Option<Credits> {
        (self.entries > 0).then_some(Credits(self.credits + self.held))
    }
}

impl std::iter::Sum for BalanceChange {
    fn sum<I: Iterator<Item = Self>>(movements: I) -> Self {
        movements.fold(BalanceChange::default(), |all, one| BalanceChange {
            credits: all.credits + one.credits,
            held: all.held + one.held,
            entries: all.entries + one.entries,
        })
    }
}

/// Caps and balances after the credits of a batch were moved.
pub(super) struct Transfer {
    pub caps: Caps,
    /// The row of each account in the batch, as it is after the batch.
    pub books: BTreeMap<String, Book>,
}

/// Moves the credits of every request that is not refused yet, and fills in the outcomes.
pub(super) async fn move_balances(
    tx: &mut Tx<'_>,
    now: UnixMs,
    requests: &[&MeterRequest],
    ended: &BTreeMap<usize, EndedHold>,
    outcomes: &mut [Option<ChargeOutcome>],
) -> Result<Transfer, sqlx::Error> {
    let mut caps = Caps::lock(tx, now, requests, ended, outcomes).await?;
    let mut by_account: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, request) in requests.iter().enumerate().filter(|(index, _)| outcomes[*index].is_none()) {
        let account_id = match &request.charge {
            Charge::Nothing | Charge::Load { .. } => continue,
            Charge::Read { account_id }
            | Charge::Debit { account_id, .. }
            | Charge::Hold { account_id, .. }
            | Charge::Mint { account_id, .. } => account_id,
            Charge::Settle { .. } | Charge::Release { .. } | Charge::Refund { .. } => match ended.get(&index) {
                Some(hold) => &hold.account_id,
                None => continue,
            },
        };
        by_account.entry(account_id).or_default().push(index);
    }
    let mut books = BTreeMap::new();
    for (account_id, indexes) in by_account {
        let group = AccountRequests { account_id, requests, ended, indexes };
        let book = match group.move_all(tx, &mut caps).await? {
            Some(after_all) => {
                group.tell(after_all, outcomes);
                Some(after_all)
            }
            None => group.one_by_one(tx, &mut caps, outcomes).await?,
        };
        books.extend(book.map(|book| (account_id.to_owned(), book)));
    }
    caps.write(tx).await?;
    Ok(Transfer { caps, books })
}

/// The requests of a batch for one account.
struct AccountRequests<'a> {
    account_id: &'a str,
    requests: &'a [&'a MeterRequest],
    ended: &'a BTreeMap<usize, EndedHold>,
    indexes: Vec<usize>,
}

impl AccountRequests<'_> {
    fn movement(&self, index: usize) -> BalanceChange {
        BalanceChange::of(&self.requests[index].charge, self.ended.get(&index))
    }

    fn asked(&self) -> i64 {
        self.indexes.iter().map(|index| self.requests[*index].charge.asks().0).sum()
    }

    /// Fills in the outcomes of the account's requests, each with the balance right after it.
    fn tell(&self, after_all: Book, outcomes: &mut [Option<ChargeOutcome>]) {
        let mut remaining = after_all.credits + self.asked();
        for index in &self.indexes {
            remaining -= self.requests[*index].charge.asks().0;
            outcomes[*index] = Some(ChargeOutcome::Done { remaining: Some(Credits(remaining)) });
        }
    }

    /// Moves the credits of all these requests in one statement and returns the account's row after
    /// it. Returns `None` if the caps or the balance do not cover all of them together.
    async fn move_all(&self, tx: &mut Tx<'_>, caps: &mut Caps) -> Result<Option<Book>, sqlx::Error> {
        let all: Vec<&MeterRequest> = self.indexes.iter().map(|index| self.requests[*index]).collect();
        if !caps.take_all(&all) {
            return Ok(None);
        }
        let movement = self.indexes.iter().map(|index| self.movement(*index)).sum();
        let after = change(tx, self.account_id, movement).await?;
        if after.is_none() {
            caps.put_back(&all);
        }
        Ok(after)
    }

    /// Moves the credits request by request, because the balance or a key's cap does not cover all
    /// of them together. Entries that give credits back come first, then the others in their order
    /// of arrival.
    async fn one_by_one(
        &self,
        tx: &mut Tx<'_>,
        caps: &mut Caps,
        outcomes: &mut [Option<ChargeOutcome>],
    ) -> Result<Option<Book>, sqlx::Error> {
        let takes = |index: &usize| self.requests[*index].charge.asks().0 > 0;
        let given = self.indexes.iter().filter(|index| !takes(index)).map(|index| self.movement(*index)).sum();
        let mut book = change(tx, self.account_id, given).await?;
        for index in &self.indexes {
            let request = self.requests[*index];
            let over_cap = caps.refuses(request);
            let taken = match over_cap {
                None if takes(index) => change(tx, self.account_id, self.movement(*index)).await?,
                None => book,
                Some(_) => None,
            };
            outcomes[*index] = Some(match (taken, over_cap, book) {
                (Some(after), ..) => {
                    caps.take(request);
                    book = Some(after);
                    ChargeOutcome::Done { remaining: Some(Credits(after.credits)) }
                }
                (None, Some(KeyCap { cap, spent }), Some(book)) => {
                    ChargeOutcome::OverCap { balance: Credits(book.credits), cap, spent }
                }
                (None, None, Some(book)) => ChargeOutcome::Insufficient { balance: Credits(book.credits) },
                (None, _, None) => ChargeOutcome::UnknownAccount,
            });
        }
        Ok(book)
    }
}

/// Changes an account's row if its balance covers the change, and returns the row after it. A
/// change of nothing only reads the row.
async fn change(tx: &mut Tx<'_>, account_id: &str, movement: BalanceChange) -> Result<Option<Book>, sqlx::Error> {
    match movement == BalanceChange::default() {
        true => balance::read(tx, account_id).await,
        false => balance::change(tx, account_id, movement).await,
    }
}
