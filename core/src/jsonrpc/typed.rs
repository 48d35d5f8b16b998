//! Values as an application's own types, by serde, straight from text that is known to be valid.
//!
//! Unlike serde_json's reading this checks nothing twice, keeps track of where it is, and never says what a value
//! was: what does not fit is told by its place and by what was expected there.

mod misfit;
mod number;

pub use misfit::Misfit;

use alloc::borrow::Cow;

use serde::de::value::{CowStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, forward_to_deserialize_any};

use super::{Elements, JsonRef, Kind, Members};

impl<'de> JsonRef<'de> {
    /// The value as `T`. Text without escapes is borrowed where `T` borrows.
    ///
    /// More lenient than serde_json where JSON Schema is: `5.0` is an integer. A unit takes an object as well as
    /// `null`: it stands for no arguments. Where `T` reads a `serde_json::value::RawValue`, use
    /// [`RawJson::decode`](super::RawJson::decode).
    ///
    /// # Errors
    /// [`Misfit`]: the first place that does not fit, in words for whoever wrote the value.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use sanswire::jsonrpc::RawJson;
    ///
    /// let value = RawJson::parse_str(r#"{"a": 1, "b": "secret"}"#)?;
    /// let misfit = value.view().read::<BTreeMap<String, f64>>().unwrap_err();
    /// assert_eq!(misfit.to_string(), "b must be a number, not a string");
    /// # Ok::<(), sanswire::jsonrpc::JsonFault>(())
    /// ```
    pub fn read<T: Deserialize<'de>>(self) -> Result<T, Misfit> {
        T::deserialize(Typed(self))
    }
}

/// A value, as serde asks for it.
#[derive(Clone, Copy)]
struct Typed<'de>(JsonRef<'de>);

impl<'de> Typed<'de> {
    /// It is not what was asked for.
    fn not(self, expected: &'static str) -> Misfit {
        Misfit::found(expected, self.0.kind())
    }

    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.str().ok_or_else(|| self.not("a string"))?.decode() {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.kind() != Kind::Array {
            return Err(self.not("an array"));
        }
        let mut elements = Array { elements: self.0.elements(), index: 0 };
        let value = visitor.visit_seq(&mut elements)?;
        match elements.elements.next() {
            Some(_) => Err(Misfit::too_long(elements.index)),
            None => Ok(value),
        }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.kind() != Kind::Object {
            return Err(self.not("an object"));
        }
        visitor.visit_map(Object { members: self.0.members(), last: None })
    }
}

macro_rules! integers {
    ($($method:ident, $visit:ident, $int:ty, $expected:literal;)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            let whole = number::whole(self.0).and_then(|whole| <$int>::try_from(whole).ok());
            visitor.$visit(whole.ok_or_else(|| self.not($expected))?)
        })+
    };
}

macro_rules! strings {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            self.text(visitor)
        })+
    };
}

macro_rules! floats {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
            visitor.visit_f64(self.0.as_f64().ok_or_else(|| self.not("a number"))?)
        })+
    };
}

impl<'de> Deserializer<'de> for Typed<'de> {
    type Error = Misfit;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        let value = self.0;
        match value.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool => visitor.visit_bool(value.as_bool() == Some(true)),
            Kind::String => self.text(visitor),
            Kind::Array => self.array(visitor),
            Kind::Object => self.object(visitor),
            Kind::Number => match (value.as_u64(), value.as_i64()) {
                (Some(whole), _) => visitor.visit_u64(whole),
                (None, Some(whole)) if whole != 0 => visitor.visit_i64(whole),
                // Minus nothing is no integer, and nothing else of it would be left.
                (None, _) => self.deserialize_f64(visitor),
            },
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_bool(self.0.as_bool().ok_or_else(|| self.not("true or false"))?)
    }

    integers! {
        deserialize_i8, visit_i8, i8, "an integer from -128 to 127";
        deserialize_i16, visit_i16, i16, "an integer from -32768 to 32767";
        deserialize_i32, visit_i32, i32, "an integer of 32 bits";
        deserialize_i64, visit_i64, i64, "an integer";
        deserialize_i128, visit_i128, i128, "an integer";
        deserialize_u8, visit_u8, u8, "an integer from 0 to 255";
        deserialize_u16, visit_u16, u16, "an integer from 0 to 65535";
        deserialize_u32, visit_u32, u32, "an integer from 0 to 4294967295";
        deserialize_u64, visit_u64, u64, "an integer from 0 on";
        deserialize_u128, visit_u128, u128, "an integer from 0 on";
    }

    floats! { deserialize_f32 deserialize_f64 }

    strings! { deserialize_str deserialize_string deserialize_char deserialize_identifier }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        match self.0.kind() {
            Kind::Null | Kind::Object => visitor.visit_unit(),
            Kind::Bool | Kind::Number | Kind::String | Kind::Array => Err(self.not("an object")),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.array(visitor)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.array(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.array(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        self.object(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        if let Some(name) = self.0.str() {
            return visitor.visit_enum(Variant { name: name.decode(), content: None });
        }
        let mut members = self.0.members();
        match (members.next(), members.next()) {
            (Some((name, content)), None) => {
                visitor.visit_enum(Variant { name: name.decode(), content: Some(content) })
            }
            _ => Err(self.not("a string, or an object of one member")),
        }
    }

    /// Where a value ends was found on the way to it, so there is nothing to walk.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misfit> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf }
}

struct Array<'de> {
    elements: Elements<'de>,
    index: usize,
}

impl<'de> SeqAccess<'de> for &mut Array<'de> {
    type Error = Misfit;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Misfit> {
        let Some(element) = self.elements.next() else { return Ok(None) };
        let value = seed.deserialize(Typed(element)).map_err(|misfit| misfit.in_element(self.index))?;
        self.index += 1;
        Ok(Some(value))
    }
}

struct Object<'de> {
    members: Members<'de>,
    last: Option<(Cow<'de, str>, JsonRef<'de>)>,
}

impl<'de> MapAccess<'de> for Object<'de> {
    type Error = Misfit;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Misfit> {
        let Some((name, value)) = self.members.next() else { return Ok(None) };
        let (name, _) = self.last.insert((name.decode(), value));
        seed.deserialize(StrDeserializer::<Misfit>::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Misfit> {
        let (name, value) = self.last.take().ok_or_else(|| Misfit::custom("a value was read twice"))?;
        seed.deserialize(Typed(value)).map_err(|misfit| misfit.in_member(&name))
    }
}

/// A variant by name, with what stands under it.
struct Variant<'de> {
    name: Cow<'de, str>,
    content: Option<JsonRef<'de>>,
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Misfit;
    type Variant = Inside<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Inside<'de>), Misfit> {
        let Self { name, content } = self;
        let variant = seed.deserialize(CowStrDeserializer::<Misfit>::new(Cow::Borrowed(&*name)))?;
        Ok((variant, Inside { name, content }))
    }
}

/// What a variant holds.
struct Inside<'de> {
    name: Cow<'de, str>,
    content: Option<JsonRef<'de>>,
}

impl<'de> Inside<'de> {
    fn content(&self) -> Result<Typed<'de>, Misfit> {
        self.content.map(Typed).ok_or_else(|| Misfit::variant_alone(&self.name))
    }
}

impl<'de> VariantAccess<'de> for Inside<'de> {
    type Error = Misfit;

    fn unit_variant(self) -> Result<(), Misfit> {
        match self.content {
            Some(content) => Typed(content).0.read().map_err(|misfit: Misfit| misfit.in_member(&self.name)),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Misfit> {
        seed.deserialize(self.content()?).map_err(|misfit| misfit.in_member(&self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Misfit> {
        self.content()?.array(visitor).map_err(|misfit| misfit.in_member(&self.name))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misfit> {
        self.content()?.object(visitor).map_err(|misfit| misfit.in_member(&self.name))
    }
}

#[cfg(test)]
mod tests;
