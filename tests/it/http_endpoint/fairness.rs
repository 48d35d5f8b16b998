//! Who makes room where sessions are at their limit: whoever has the most of them, and nobody for one who has more.

use proptest::prelude::*;
use sanswire::http::endpoint::{EndpointConfig, Token};
use sanswire::server::Principal;
use sanswire_tests::served::request;
use sanswire_tests::web::{PLAIN, Web, config, head};
use serde_json::json;

const WHO: [&str; 3] = ["alice", "bob", "carol"];

/// A session, as its client knows it.
#[derive(Debug)]
struct Open {
    who: usize,
    id: String,
    heard: u64,
    stream: Option<u64>,
}

#[derive(Clone, Debug)]
enum Act {
    Initialize(usize),
    /// Opens a stream in one of the sessions, or closes it.
    Stream(usize),
    Ping(usize),
    Pass(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        // One comes far more often than the others.
        6 => Just(Act::Initialize(0)),
        2 => (1..WHO.len()).prop_map(Act::Initialize),
        2 => any::<usize>().prop_map(Act::Stream),
        1 => any::<usize>().prop_map(Act::Ping),
        1 => (1..50_u64).prop_map(Act::Pass),
    ]
}

struct World {
    web: Web,
    open: Vec<Open>,
    max: usize,
}

impl World {
    fn new(max: usize) -> Self {
        let mut all: EndpointConfig = config();
        all.max_sessions = max;
        all.tokens = WHO.map(|who| Token::new(Principal::named(who), who)).into();
        Self { web: Web::new(all), open: Vec::new(), max }
    }

    fn count(&self, who: usize) -> usize {
        self.open.iter().filter(|open| open.who == who).count()
    }

    /// The place of the session that goes for one more of `who`'s.
    fn goes_for(&self, who: usize) -> Option<usize> {
        let share = |of: usize| self.count(of) + usize::from(of == who);
        let idle = self.open.iter().enumerate().filter(|(_, open)| open.stream.is_none());
        let may = idle.filter(|(_, open)| share(open.who) >= share(who));
        let most = may.clone().map(|(_, open)| share(open.who)).max()?;
        let own_first = |open: &Open| (open.who != who, open.heard);
        let of_most = may.filter(|(_, open)| share(open.who) == most);
        of_most.min_by_key(|(place, open)| (own_first(open), *place)).map(|(place, _)| place)
    }

    fn fields<'a>(who: &'a str, id: Option<&'a str>) -> Vec<(&'a str, &'a str)> {
        let mut fields = PLAIN.to_vec();
        fields.push(("Authorization", who));
        fields.extend(id.map(|id| ("Mcp-Session-Id", id)));
        fields
    }

    fn status_of_ping(&mut self, who: usize, id: &str) -> u16 {
        let bearer = format!("Bearer {}", WHO[who]);
        let n = self.web.post_with(&Self::fields(&bearer, Some(id)), &request(1, "ping", json!({})));
        self.web.answers[&n].status()
    }

    fn initialize(&mut self, who: usize) {
        let full = self.open.len() == self.max;
        let goes = if full { self.goes_for(who) } else { None };
        let before = self.open.iter().map(|open| open.who).fold([0; 3], |mut all, who| {
            all[who] += 1;
            all
        });
        let client = json!({"name": "c", "version": "0"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let bearer = format!("Bearer {}", WHO[who]);
        let n = self.web.post_with(&Self::fields(&bearer, None), &request(0, "initialize", params));
        let answer = &self.web.answers[&n];
        if full && goes.is_none() {
            assert_eq!(answer.status(), 503, "{:?}", self.open);
            assert_eq!(self.web.endpoint.sessions(), self.max);
            return;
        }
        assert_eq!(answer.status(), 200);
        let id = answer.field("Mcp-Session-Id").unwrap().to_owned();
        if let Some(place) = goes {
            let gone = self.open.remove(place);
            assert_eq!(self.status_of_ping(gone.who, &gone.id), 404, "{gone:?} of {:?}", self.open);
            // Nobody loses one to somebody who has more.
            assert!(gone.who == who || before[gone.who] > before[who], "{before:?}: {} for {who}", gone.who);
            // Where all are idle, a fair share is safe.
            let all_idle = self.open.iter().all(|open| open.stream.is_none());
            let share = self.max / WHO.len();
            assert!(!all_idle || gone.who == who || before[gone.who] > share, "{before:?}");
        }
        let heard = self.web.now.as_micros();
        self.open.push(Open { who, id, heard, stream: None });
        assert_eq!(self.web.endpoint.sessions(), self.open.len());
    }

    fn stream(&mut self, place: usize) {
        let now = self.web.now.as_micros();
        let len = self.open.len();
        let Some(open) = (len > 0).then(|| &mut self.open[place % len]) else { return };
        open.heard = now;
        if let Some(n) = open.stream.take() {
            return self.web.leave(n);
        }
        let (bearer, id) = (format!("Bearer {}", WHO[open.who]), open.id.clone());
        let n = self.web.send(head("GET", "/mcp", &Self::fields(&bearer, Some(&id))), b"");
        assert_eq!(self.web.answers[&n].status(), 200);
        self.open[place % len].stream = Some(n);
    }

    fn act(&mut self, act: &Act) {
        match act {
            Act::Initialize(who) => self.initialize(*who),
            Act::Stream(place) => self.stream(*place),
            Act::Ping(place) if !self.open.is_empty() => {
                let place = place % self.open.len();
                let (who, id) = (self.open[place].who, self.open[place].id.clone());
                assert_eq!(self.status_of_ping(who, &id), 200, "it is there still");
                self.open[place].heard = self.web.now.as_micros();
            }
            Act::Ping(_) => {}
            Act::Pass(millis) => self.web.pass(*millis),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn sessions_are_shared_fairly(max in 1..8_usize, acts in prop::collection::vec(act(), 1..60)) {
        let mut world = World::new(max);
        for act in &acts {
            world.act(act);
        }
        // All that should be there are.
        for place in 0..world.open.len() {
            world.act(&Act::Ping(place));
        }
    }
}

#[test]
fn one_who_opens_sessions_without_end_pushes_out_its_own() {
    let mut world = World::new(6);
    for who in [1, 2, 1, 2] {
        world.initialize(who);
        world.web.pass(10);
    }
    for _ in 0..100 {
        world.initialize(0);
        world.web.pass(10);
    }
    assert_eq!([0, 1, 2].map(|who| world.count(who)), [2, 2, 2]);
    // Whoever has none gets one of those who have the most.
    let mut world = World::new(3);
    for who in [0, 0, 0, 1] {
        world.initialize(who);
        world.web.pass(10);
    }
    assert_eq!([0, 1].map(|who| world.count(who)), [2, 1]);
}
