internal import DBus
internal import DBusTypes

/// What the bus passes on of one owner: what one object emits, or all of one folder.
final class Following {
  enum State {
    case none
    /// The bus has been asked to; looks wait for its answer.
    case asked
    case taken
  }

  let owner: BusName
  let rule: MatchRule
  var state = State.none
  /// The objects that are followed so; weak, since each object has this.
  struct Followed { weak var object: OwnedObject? }
  var objects: [ObjectIdentifier: Followed] = [:]

  init(_ owner: BusName, _ rule: MatchRule) { (self.owner, self.rule) = (owner, rule) }
}

/// The objects of one owner whose paths differ in the last element alone.
///
/// A bridge has an object for each element that it shows: one match rule for them all saves a call for each, and the bus
/// allows a connection only so many rules.
final class Folder {
  private let path: ObjectPath?
  private var count = 0
  private weak var shared: Following?

  /// Creates the folder at `path`; nil for the root, where each object is followed by itself.
  init(_ path: ObjectPath?) { self.path = path }

  /// Notes that an object is in it, or is not any more.
  /// - Returns: whether it has objects.
  func count(_ more: Int) -> Bool {
    count += more
    return count > 0
  }

  /// How `object` is followed, which is in it.
  func following(for object: OwnedObject) -> Following {
    guard let path, count > 1 || shared != nil else {
      return Following(object.owner, MatchRule(sender: object.owner, path: object.path))
    }
    if let shared { return shared }
    let following = Following(object.owner, MatchRule(sender: object.owner, pathNamespace: path))
    shared = following
    return following
  }
}
