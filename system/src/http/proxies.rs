//! By which proxy each server of a client is reached.

use sanswire::http::Authority;

use crate::http::{Ambient, DialFault, HttpTarget, Proxy, ProxyAddress};

/// By which proxy each server of a client is reached, redirect hops included.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is no other way to say it")]
pub enum Proxies {
    /// None.
    None,
    /// What the environment said when it was read.
    Ambient(Ambient),
    /// This one, always.
    Always(ProxyAddress),
}

impl Proxies {
    /// Those of a target. Reads what the environment says about proxies, if that counts.
    ///
    /// # Errors
    /// [`DialFault::GuardedProxy`]: a proxy is named, and would look up what may have public addresses only.
    pub fn of(target: &HttpTarget) -> Result<Self, DialFault> {
        match &target.proxy {
            Proxy::At(_) if target.public_only => Err(DialFault::GuardedProxy),
            Proxy::At(proxy) => Ok(Self::Always(proxy.clone())),
            Proxy::Environment if !target.public_only => {
                Ok(Self::Ambient(Ambient::read(&|name| std::env::var_os(name))))
            }
            Proxy::Environment | Proxy::Direct => Ok(Self::None),
        }
    }

    /// The one for this server, if there is one.
    ///
    /// # Errors
    /// What the environment names is none.
    pub fn proxy_for(&self, to: &Authority) -> Result<Option<&ProxyAddress>, DialFault> {
        match self {
            Self::None => Ok(None),
            Self::Always(proxy) => Ok(Some(proxy)),
            Self::Ambient(ambient) => {
                ambient.proxy_for(to).map_err(|(variable, fault)| DialFault::ProxySetting { variable, fault })
            }
        }
    }
}
