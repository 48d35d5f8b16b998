//! Rests against a model that remembers everything.

use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn anyone() -> Principal {
    Principal::anonymous()
}

fn limits(page_bytes: usize, store_bytes: usize, life: u64) -> PageLimits {
    PageLimits { page_bytes, store_bytes, life: Duration::from_millis(life) }
}

#[test]
fn pages_go_on_where_the_text_was_cut() {
    let mut pages = Pages::new(limits(4, 10_000, 1000)).unwrap();
    let handle = pages.keep(&anyone(), "abcdé日gh".into(), 100, at(0)).unwrap();
    let table = [
        (None, Ok(("abcd", 100, Some(104)))),
        (Some(100), Ok(("abcd", 100, Some(104)))),
        (Some(104), Ok(("é", 104, Some(106)))),
        (Some(105), Ok(("é", 104, Some(106)))),
        (Some(106), Ok(("日g", 106, Some(110)))),
        (Some(110), Ok(("h", 110, None))),
        (Some(111), Err(PageFault::OutOfRange { from: 100, total: 111 })),
        (Some(99), Err(PageFault::OutOfRange { from: 100, total: 111 })),
        (Some(usize::MAX), Err(PageFault::OutOfRange { from: 100, total: 111 })),
    ];
    for (offset, expected) in table {
        let page = pages.page(&anyone(), handle, offset, at(1));
        assert_eq!(page.map(|page| (page.text, page.offset, page.next)), expected, "{offset:?}");
    }
    assert_eq!(pages.page(&anyone(), handle, None, at(1)).unwrap().total, 111);
    let error = PageFault::OutOfRange { from: 100, total: 111 }.to_string();
    assert!(error.contains("100") && error.contains("111"), "{error}");
}

#[test]
fn a_rest_is_for_its_owner_alone() {
    let mut pages = Pages::new(PageLimits::default()).unwrap();
    let (one, other) = (Principal::named("one"), Principal::named("other"));
    let handle = pages.keep(&one, "secret".into(), 0, at(0)).unwrap();
    for stranger in [&other, &anyone()] {
        let fault = pages.page(stranger, handle, None, at(0)).unwrap_err();
        let nothing = pages.page(stranger, PageHandle::from_u64(99), None, at(0)).unwrap_err();
        assert_eq!((fault, nothing), (PageFault::Unknown, PageFault::Unknown), "as if there were none");
    }
    pages.forget(&other);
    assert_eq!(pages.page(&one, handle, None, at(0)).unwrap().text, "secret");
    pages.forget(&one);
    assert_eq!(pages.page(&one, handle, None, at(0)), Err(PageFault::Unknown));
    assert_eq!((pages.bytes(), pages.len()), (0, 0));
}

#[test]
fn rests_go_when_their_time_is_over_and_the_oldest_when_there_is_no_room() {
    let mut pages = Pages::new(limits(4, 3 * (OVERHEAD + 10), 1000)).unwrap();
    let keep = |pages: &mut Pages, now| pages.keep(&anyone(), "0123456789".into(), 0, at(now));
    let handles: Vec<_> = (0..4).map(|n| keep(&mut pages, n).unwrap()).collect();
    let found = |pages: &mut Pages, now| {
        let all = handles.iter().map(|handle| pages.page(&anyone(), *handle, None, at(now)).is_ok());
        all.collect::<Vec<_>>()
    };
    assert_eq!(found(&mut pages, 4), [false, true, true, true]);
    assert_eq!(pages.poll_timeout(), Some(at(1001)));
    assert_eq!(found(&mut pages, 1000), [false, true, true, true]);
    assert_eq!(found(&mut pages, 1001), [false, false, true, true]);
    assert_eq!(found(&mut pages, 5), [false, false, true, true], "time that goes backwards stands still");
    pages.handle_timeout(at(2000));
    assert_eq!((pages.len(), pages.bytes(), pages.poll_timeout()), (0, 0, None));
    assert_eq!(pages.counts(), PageCounts { evicted: 1, expired: 3, refused: 0 });
    assert_eq!(pages.keep(&anyone(), "x".repeat(1000), 0, at(2000)), None);
    assert_eq!(pages.counts().refused, 1);
    assert_eq!(pages.keep(&anyone(), String::new(), 5, at(2000)), None, "there is no rest");
    assert_eq!(pages.counts().refused, 1);
    assert_eq!(keep(&mut pages, 2000).unwrap().as_u64(), 5, "handles are never used twice");
}

#[test]
fn limits_out_of_range_are_told_by_name() {
    for (wrong, field) in [(limits(3, 100, 1), "page_bytes"), (limits(4, 100, 0), "life")] {
        assert_eq!(Pages::new(wrong).unwrap_err().field, field);
    }
    assert_eq!(PageLimits::default(), limits(65_536, 67_108_864, 1_800_000));
}

#[derive(Clone, Debug)]
enum Op {
    Keep { owner: u8, len: usize },
    Forget(u8),
    Pass(u64),
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0u8..3, 0usize..400).prop_map(|(owner, len)| Op::Keep { owner, len }),
        1 => (0u8..3).prop_map(Op::Forget),
        2 => (0u64..80).prop_map(Op::Pass),
    ];
    prop::collection::vec(op, 0..60)
}

fn owner(n: u8) -> Principal {
    Principal::named(&n.to_string())
}

proptest! {
    #[test]
    fn the_store_holds_what_a_model_holds_and_never_more_than_its_bound(ops in ops()) {
        let bound = 1000;
        let mut pages = Pages::new(limits(16, bound, 100)).unwrap();
        // Handle, owner, text, expiry; oldest first.
        let mut model: Vec<(PageHandle, u8, String, u64)> = vec![];
        let (mut now, mut given) = (0, vec![]);
        let weigh = |model: &Vec<(PageHandle, u8, String, u64)>| {
            model.iter().map(|(_, _, text, _)| text.len() + OVERHEAD + 1).sum::<usize>()
        };
        for op in ops {
            match op {
                Op::Keep { owner: n, len } => {
                    let text = "é".repeat(len / 2) + &"x".repeat(len % 2);
                    model.retain(|(_, _, _, expires)| *expires > now);
                    let kept = pages.keep(&owner(n), text.clone(), 7, at(now));
                    prop_assert_eq!(kept.is_some(), len > 0);
                    if let Some(handle) = kept {
                        prop_assert!(!given.contains(&handle));
                        given.push(handle);
                        model.push((handle, n, text, now + 100));
                        while weigh(&model) > bound {
                            model.remove(0);
                        }
                    }
                }
                Op::Forget(n) => {
                    pages.forget(&owner(n));
                    model.retain(|(_, of, _, _)| *of != n);
                }
                Op::Pass(millis) => {
                    now += millis;
                    pages.handle_timeout(at(now));
                    model.retain(|(_, _, _, expires)| *expires > now);
                    prop_assert!(pages.poll_timeout().is_none_or(|next| next > at(now)));
                }
            }
            prop_assert!(pages.bytes() <= bound);
            prop_assert_eq!((pages.len(), pages.bytes()), (model.len(), weigh(&model)));
        }
        for (handle, n, text, _) in &model {
            let (mut read, mut next) = (String::new(), None);
            loop {
                let page = pages.page(&owner(*n), *handle, next, at(now)).unwrap();
                prop_assert!(!page.text.is_empty() && page.text.len() <= 16);
                read.push_str(page.text);
                next = page.next;
                if next.is_none() {
                    break;
                }
            }
            prop_assert_eq!(&read, text, "all pages together are the rest");
        }
        let counts = pages.counts();
        prop_assert!(counts.refused == 0 && counts.evicted + counts.expired + model.len() as u64 <= given.len() as u64);
    }
}
