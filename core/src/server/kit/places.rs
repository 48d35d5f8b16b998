//! A place for each connection.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

/// Names a connection among others, and no other one later in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionKey {
    place: u32,
    turn: u32,
}

impl ConnectionKey {
    /// As one number, for what a system keeps beside a descriptor.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        ((self.turn as u64) << 32) | self.place as u64
    }

    /// The key that [`to_u64`](Self::to_u64) gave. Of any other number comes a key that names nothing.
    #[must_use]
    pub const fn from_u64(key: u64) -> Self {
        // Halves of it, so nothing is lost.
        Self { place: key as u32, turn: (key >> 32) as u32 }
    }

    /// Where it is; what comes there later has this too. The least that is free is never far above how many there are, so
    /// that a list can be kept beside.
    #[must_use]
    pub const fn place(self) -> u32 {
        self.place
    }
}

struct Place<C> {
    turn: u32,
    connection: Option<Box<C>>,
}

/// Connections by their keys. Each takes O(1) to find; places are used again, keys never.
pub struct Places<C> {
    places: Vec<Place<C>>,
    free: Vec<u32>,
    len: usize,
}

impl<C> fmt::Debug for Places<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Places").field("len", &self.len).field("places", &self.places.len()).finish()
    }
}

impl<C> Default for Places<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C> Places<C> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new(), len: 0 }
    }

    /// How many connections there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes one in. None: no number is left for it, which needs 4 billion of them.
    pub fn insert(&mut self, connection: C) -> Option<ConnectionKey> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                let place = u32::try_from(self.places.len()).ok()?;
                self.places.push(Place { turn: 0, connection: None });
                place
            }
        };
        let slot = self.places.get_mut(place as usize)?;
        slot.connection = Some(Box::new(connection));
        self.len += 1;
        Some(ConnectionKey { place, turn: slot.turn })
    }

    /// The connection of this name, if it is still there.
    #[must_use]
    pub fn get(&self, key: ConnectionKey) -> Option<&C> {
        let slot = self.places.get(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        slot.connection.as_deref()
    }

    /// As [`get`](Self::get), to change it.
    #[must_use]
    pub fn get_mut(&mut self, key: ConnectionKey) -> Option<&mut C> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        slot.connection.as_deref_mut()
    }

    /// Takes it out. Its key names nothing from now on.
    pub fn remove(&mut self, key: ConnectionKey) -> Option<Box<C>> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        let connection = slot.connection.take()?;
        // Its names are used up in a few centuries; a place that wraps around meets no key as old as that.
        slot.turn = slot.turn.wrapping_add(1);
        self.free.push(key.place);
        self.len -= 1;
        Some(connection)
    }

    /// Who is in this place now.
    #[must_use]
    pub fn key_at(&self, place: u32) -> Option<ConnectionKey> {
        let slot = self.places.get(place as usize).filter(|slot| slot.connection.is_some())?;
        Some(ConnectionKey { place, turn: slot.turn })
    }

    /// All of them, by place.
    #[must_use]
    pub fn keys(&self) -> Vec<ConnectionKey> {
        let taken = self.places.iter().zip(0..).filter(|(slot, _)| slot.connection.is_some());
        taken.map(|(slot, place)| ConnectionKey { place, turn: slot.turn }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{ConnectionKey, Places};

    #[test]
    fn a_place_that_is_used_again_has_another_name() {
        let mut places = Places::new();
        let first = places.insert("a").expect("room");
        let second = places.insert("b").expect("room");
        assert_eq!(places.remove(first).as_deref(), Some(&"a"));
        assert_eq!((places.remove(first), places.get(first)), (None, None));
        let third = places.insert("c").expect("room");
        assert_eq!(third.place(), first.place());
        assert_ne!(third, first);
        assert_eq!(places.get_mut(first), None);
        assert_eq!(places.get(third), Some(&"c"));
        assert_eq!((places.key_at(third.place()), places.key_at(7)), (Some(third), None));
        assert_eq!((places.keys(), places.len()), ([third, second].to_vec(), 2));
        assert_eq!(ConnectionKey::from_u64(third.to_u64()), third);
    }
}
