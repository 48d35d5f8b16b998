//! A place for each connection.

/// Names a connection, and no other one later in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    place: u32,
    turn: u32,
}

impl Key {
    pub(in crate::serve) const fn to_u64(self) -> u64 {
        ((self.turn as u64) << 32) | self.place as u64
    }

    pub(in crate::serve) const fn from_u64(key: u64) -> Self {
        // Halves of it, so nothing is lost.
        Self { place: key as u32, turn: (key >> 32) as u32 }
    }

    /// Where it is; what comes there later has this too.
    pub(in crate::serve) const fn place(self) -> u32 {
        self.place
    }
}

struct Place<C> {
    turn: u32,
    connection: Option<Box<C>>,
}

/// Connections by their keys.
pub(in crate::serve) struct Places<C> {
    places: Vec<Place<C>>,
    free: Vec<u32>,
    len: usize,
}

impl<C> Default for Places<C> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), len: 0 }
    }
}

impl<C> Places<C> {
    pub(in crate::serve) const fn len(&self) -> usize {
        self.len
    }

    pub(in crate::serve) fn insert(&mut self, connection: C) -> Option<Key> {
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.places.push(Place { turn: 0, connection: None });
                u32::try_from(self.places.len() - 1).ok()?
            }
        };
        let slot = self.places.get_mut(place as usize)?;
        slot.connection = Some(Box::new(connection));
        self.len += 1;
        Some(Key { place, turn: slot.turn })
    }

    pub(in crate::serve) fn get_mut(&mut self, key: Key) -> Option<&mut C> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        slot.connection.as_deref_mut()
    }

    pub(in crate::serve) fn remove(&mut self, key: Key) -> Option<Box<C>> {
        let slot = self.places.get_mut(key.place as usize).filter(|slot| slot.turn == key.turn)?;
        let connection = slot.connection.take()?;
        // Its names are used up in a few centuries; a place that wraps around meets no key as old as that.
        slot.turn = slot.turn.wrapping_add(1);
        self.free.push(key.place);
        self.len -= 1;
        Some(connection)
    }

    /// Who is in this place now.
    pub(in crate::serve) fn key_at(&self, place: u32) -> Option<Key> {
        let slot = self.places.get(place as usize).filter(|slot| slot.connection.is_some())?;
        Some(Key { place, turn: slot.turn })
    }

    pub(in crate::serve) fn keys(&self) -> Vec<Key> {
        let taken = self.places.iter().zip(0..).filter(|(slot, _)| slot.connection.is_some());
        taken.map(|(slot, place)| Key { place, turn: slot.turn }).collect()
    }
}
