internal import DBus
internal import DBusTypes
internal import FocusContract
internal import FocusModel

/// Keys that are read from the owner each time, and that were nil the last time: they are asked for again, since an owner that
/// tells no changes of a key would never tell that it has a value.
extension FocusService {
  /// The field whose object has to be asked for `key` before it can be said what the key resolves to at `place`; nil for none.
  ///
  /// Those in `asked` have been asked.
  func fieldToAsk(for key: Key, at place: Place, except asked: Set<FieldID>, by client: BusName) -> FieldID? {
    func mustAsk(_ id: FieldID) -> Bool {
      guard let object = objects[id], object.isReadEachTime(key), !asked.contains(id) else { return false }
      return model.fields[id]?.isVisible(to: client) == true
    }
    for id in fields(at: place) {
      guard let field = model.fields[id] else { continue }
      if field.bindings[key] != nil { return nil }
      if field.object != nil, mustAsk(id) { return id }
    }
    // Only for a key that is nil: to resolve an interface takes longer than to resolve a key.
    guard place == .focused, model.resolve(key) == nil, let outer = model.resolve(key.interface), mustAsk(outer) else {
      return nil
    }
    return outer
  }

  /// The fields whose own keys are at `place`, innermost first.
  private func fields(at place: Place) -> [FieldID] {
    switch place {
    case .field(let id): [id]
    case .focused: model.focusPath
    }
  }

  /// The keys at `place`, of `interface` or all, that are read each time and are nil now, each with its object.
  func nilReadEachTime(
    at place: Place, of interface: InterfaceName?, by client: BusName
  ) -> [Fetched: OwnedObject] {
    var wanted: [Fetched: OwnedObject] = [:]
    for id in fields(at: place) {
      guard let object = objects[id], let field = model.fields[id], field.isVisible(to: client) else { continue }
      for key in object.keysReadEachTime where field.bindings[key] == nil && interface ?? key.interface == key.interface
      {
        wanted[Fetched(key: key, field: id)] = object
      }
    }
    return wanted
  }
}
