internal import DBus
internal import DBusTypes

/// What the bus passes on of one owner: what one object emits, or all of one folder.
final class Following {
  enum State {
    case none
    /// The bus has been asked to.
    case asked
    case taken
  }

  let rule: MatchRule
  var state = State.none
  /// How many objects are followed so.
  var count = 0
  /// The looks that wait for the bus's answer.
  var waiting: [Look] = []

  init(_ rule: MatchRule) { self.rule = rule }
}

/// The objects of one owner whose paths differ in the last element alone.
///
/// A bridge has an object for each element that it shows: one match rule for them all saves a call for each, and the bus
/// allows a connection only so many rules.
final class Folder {
  private let path: ObjectPath?
  /// How many objects are in it.
  var count = 0
  private weak var shared: Following?

  /// Creates the folder at `path`; nil for the root, where each object is followed by itself.
  init(_ path: ObjectPath?) { self.path = path }

  /// How `object` is followed, which is in it.
  func following(for object: OwnedObject) -> Following {
    guard let path, count > 1 || shared != nil else {
      return Following(MatchRule(sender: object.owner, path: object.path))
    }
    if let shared { return shared }
    let following = Following(MatchRule(sender: object.owner, pathNamespace: path))
    shared = following
    return following
  }
}

/// The bus is asked to pass on what objects emit before they are looked at.
extension FocusService {
  /// Goes on with `look` when the bus passes on what its object emits.
  func follow(_ look: Look) {
    let object = look.object
    let following = object.following ?? object.folder.following(for: object)
    if object.following == nil { following.count += 1 }
    object.following = following
    guard following.state != .taken else { return carryOut(look) { try introspect(look) } }
    following.waiting.append(look)
    guard following.state == .none else { return }
    following.state = .asked
    do throws(DBusError) {
      try connection.call(connection.questionToAdd(following.rule), timeout: OwnerCalls.timeout) { [weak self] answer in
        self?.matchAnswered(answer, following)
      }
    } catch {
      matchAnswered(.failure(error), following)
    }
  }

  private func matchAnswered(_ answer: Result<Message, DBusError>, _ following: Following) {
    let refusal = (try? answer.get())?.error
    // If the bus has not answered, it may yet take the rule.
    following.state = refusal == nil ? .taken : .none
    let waiting = following.waiting
    following.waiting = []
    for look in waiting {
      carryOut(look) {
        try Self.check(answer, for: look.object)
        try introspect(look)
      }
    }
  }

  /// Checks that the bus has agreed to pass on what `object` emits.
  private static func check(_ answer: Result<Message, DBusError>, for object: OwnedObject) throws(DBusError) {
    do throws(DBusError) {
      guard let refusal = try answer.get().error else { return }
      throw DBusError(
        .limitsExceeded,
        "cannot follow the object \(object.path): the bus refuses another match rule (\(refusal.name))")
    } catch {
      guard error.name == .timeout else { throw error }
      throw DBusError(.timeout, "cannot follow the object \(object.path): the bus did not reply within 5 seconds")
    }
  }

  /// Has nothing more to do with `object`.
  func stopFollowing(_ object: OwnedObject) {
    guard let following = object.following else { return }
    object.following = nil
    following.count -= 1
    guard following.count == 0, following.state != .none else { return }
    following.state = .none
    connection.changeMatch(.remove, following.rule)
  }
}
