use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

const KIND: Kind = Kind { folder: "kind", max_files: 5, max_bytes: 1 << 20 };

/// For the process that a test starts of itself: what it is to do, and in which folder.
const DO: &str = "SANSWIRE_TEST_DO";
const IN: &str = "SANSWIRE_TEST_IN";

/// A folder of its own.
pub(in crate::state) struct Place(pub(in crate::state) PathBuf);

impl Place {
    pub(in crate::state) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sanswire-state-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn folder(&self) -> Folder {
        Folder::at(self.0.join("state")).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn write(folder: &Folder, name: &str, text: &str) -> Vec<String> {
    folder.lock().unwrap().write(KIND, name, text).unwrap()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// This very program, told to do something in a folder.
fn another(place: &Place, what: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "state::files::tests::does_as_it_is_told", "--test-threads=1"])
        .env(DO, what)
        .env(IN, place.0.join("state"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// The two texts that are written in turn: long, so that there is time to be caught at it.
fn texts() -> [String; 2] {
    ["a".repeat(300_000), "b".repeat(700_000)]
}

/// No test: what the tests below start in processes of their own.
#[test]
#[ignore = "is run by the tests that need another process"]
fn does_as_it_is_told() {
    let Some(what) = std::env::var_os(DO) else { return };
    let folder = Folder::at(std::env::var_os(IN).unwrap().into()).unwrap();
    if what == "count" {
        for _ in 0..50 {
            let locked = folder.lock().unwrap();
            let count: u32 = folder.read(KIND, "count").map_or(0, |text| text.parse().unwrap());
            locked.write(KIND, "count", &(count + 1).to_string()).unwrap();
        }
        return;
    }
    loop {
        texts().iter().for_each(|text| drop(write(&folder, "one", text)));
    }
}

#[test]
fn a_file_is_whole_whenever_its_writer_is_killed() {
    // H-243
    let place = Place::new();
    let folder = place.folder();
    for round in 0..25 {
        let mut child = another(&place, "write");
        let before = folder.read(KIND, "one");
        let end = Instant::now() + Duration::from_secs(60);
        while folder.read(KIND, "one") == before && Instant::now() < end {}
        std::thread::sleep(Duration::from_micros(700 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let left = folder.read(KIND, "one").unwrap();
        assert!(texts().contains(&left), "{} bytes after round {round}", left.len());
        assert_eq!(folder.names(KIND), ["one"], "what is not finished is no file");
        // Nor is anything in the way of the next one.
        write(&folder, "one", "short");
        assert_eq!(folder.read(KIND, "one").unwrap(), "short");
    }
}

#[test]
fn what_a_crash_left_beside_a_file_is_in_nobodys_way() {
    // H-243
    let place = Place::new();
    let folder = place.folder();
    write(&folder, "one", "old");
    let text = "what was to be the new text";
    for bytes in 0..=text.len() {
        fs::write(place.0.join("state/kind/.new"), text.get(..bytes).unwrap()).unwrap();
        assert_eq!(folder.read(KIND, "one").unwrap(), "old");
        assert_eq!(folder.names(KIND), ["one"]);
        write(&folder, "one", "x");
        write(&folder, "one", "old");
    }
}

#[test]
fn of_what_several_write_at_once_nothing_is_lost() {
    // H-243
    let place = Place::new();
    let mut children: Vec<_> = (0..4).map(|_| another(&place, "count")).collect();
    children.iter_mut().for_each(|child| assert!(child.wait().unwrap().success()));
    assert_eq!(place.folder().read(KIND, "count").unwrap(), "200");
}

#[test]
fn the_oldest_ones_go() {
    // H-243
    let place = Place::new();
    let folder = place.folder();
    let at = |name: &str, seconds| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options()
            .write(true)
            .open(place.0.join("state/kind").join(name))
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    for (n, name) in ["e", "d", "c", "b", "a"].iter().enumerate() {
        assert_eq!(write(&folder, name, "x"), [""; 0]);
        at(name, 1000 + n as u64);
    }
    // Who is written again is the youngest.
    write(&folder, "e", "y");
    assert_eq!(write(&folder, "new", "x"), ["d"]);
    assert_eq!(folder.names(KIND), ["a", "b", "c", "e", "new"]);
    // Even if a clock goes wrong, what is written now is not what goes.
    at("a", 4_000_000_000);
    for name in ["b", "c", "e", "new"] {
        at(name, 4_000_000_001);
    }
    let gone = write(&folder, "z", "x");
    assert_eq!(gone, ["a"]);
    assert!(folder.read(KIND, "z").is_some());
    let long = "x".repeat(usize::try_from(KIND.max_bytes).unwrap() + 1);
    assert!(folder.lock().unwrap().write(KIND, "long", &long).is_err());
}

#[test]
fn the_folder_is_the_users_alone() {
    let place = Place::new();
    let folder = place.folder();
    write(&folder, "one", "x");
    let state = place.0.join("state");
    let modes = ["", "kind", "kind/one", "lock"].map(|path| mode(&state.join(path)));
    assert_eq!(modes, [0o700, 0o700, 0o600, 0o600]);
    // One that others could write in is closed to them.
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    place.folder();
    assert_eq!(mode(&state), 0o700);
    // One that is elsewhere, or another's, is not used.
    symlink(&state, place.0.join("link")).unwrap();
    assert!(Folder::at(place.0.join("link")).unwrap_err().contains("symbolic link"));
    fs::write(place.0.join("file"), "").unwrap();
    assert!(Folder::at(place.0.join("file")).unwrap_err().contains("no folder"));
    let foreign = if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(&state, Some(65534), None).unwrap();
        state
    } else {
        PathBuf::from("/usr")
    };
    assert!(Folder::at(foreign).unwrap_err().contains("belongs to another user"));
}

#[test]
fn a_lock_that_is_not_given_back_is_not_waited_for() {
    let place = Place::new();
    let folder = place.folder();
    let held = folder.lock().unwrap();
    let refused = folder.lock_within(Duration::from_millis(10)).map(drop).unwrap_err();
    assert!(refused.to_string().contains("holds the lock"), "{refused}");
    drop(held);
    assert!(folder.lock().is_ok());
}
