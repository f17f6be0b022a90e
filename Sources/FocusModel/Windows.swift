public import DBusTypes
public import FocusContract

/// The windows of the window bridge: which is in front, and whose scenes are in which.
extension FocusModel {
  /// Brings a window to the front; nothing happens if it is there.
  func bringToFront(_ id: FieldID) {
    guard focus.front != id, let window = fields[id]?.window else { return }
    touch(id)
    let moment = nextMoment()
    arrange { focus, table in
      table.frontChanged(from: focus.front, to: id)
      focus.front = id
      focus.outside = nil
      table.cameToFront(id, at: moment)
    }
    moveHome(window.adopted.keys.sorted())
    refocus()
  }

  /// Lets no window be in front; nothing happens if the window `id` is not.
  func sendBehind(_ id: FieldID) {
    guard focus.front == id else { return }
    arrange { focus, table in
      table.frontChanged(from: id, to: nil)
      focus.front = nil
      focus.outside = nil
    }
    refocus()
  }

  /// Moves the scenes of these connections into the windows that they are in now; `settle` publishes it.
  func moveHome(_ connections: [BusName]) {
    for connection in connections {
      let home = table.home(of: connection)
      for scene in (table.scenes[connection] ?? []).sorted() where fields[scene]?.parent != home {
        relocate(scene, to: home, isAdopted: home != nil)
      }
    }
  }

  /// Sets which connections' scenes are in a window, of which those that are on the bus are given.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `invalid` if the field is no window, or for the bridge itself.
  public func adopt(_ connections: Set<BusName>, into id: FieldID, by client: BusName) throws(ModelError) -> [Change] {
    let field = try checkAdoption(into: id, by: client)
    guard !connections.contains(client) else {
      throw .invalid("'owners' lists \(client), the bridge itself, whose scenes are the windows")
    }
    let old = field.window?.adopted ?? [:]
    guard Set(old.keys) != connections else { return [] }
    var adopted: [BusName: UInt64] = [:]
    for connection in connections.sorted() { adopted[connection] = old[connection] ?? nextMoment() }
    return operate { operation in operation.adopt(adopted, into: id) }
  }

  /// Checks that `client` may say whose scenes are in the field `id`.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `invalid` if the field is no window.
  @discardableResult
  public func checkAdoption(into id: FieldID, by client: BusName) throws(ModelError) -> Field {
    let field = try field(id, ownedBy: client, to: "adopt scenes into")
    guard field.window != nil else {
      throw .invalid(
        "the field '\(id)' is not a window: those are the scenes of the owner of org.focusd.Bridge1.Windows")
    }
    return field
  }

  /// Takes the window bridge to be the connection `owner`, or none; the windows of another go.
  public func setWindowBridge(_ owner: BusName?) -> [Change] {
    windowBridge = owner
    let gone = fields.values.filter { $0.window != nil && $0.owner != owner }.map(\.id).sorted()
    guard !gone.isEmpty else { return [] }
    // What has focus in an application keeps it.
    if let id = focus.field, fields[id]?.window == nil { arrange { focus, _ in focus.outside = id } }
    return operate { $0.remove(gone) }
  }

  /// Moves the field `id` into `parent`, a window if `isAdopted`, or out of all; `settle` publishes that.
  func relocate(_ id: FieldID, to parent: FieldID?, isAdopted: Bool) {
    noteMove(of: id)
    if let parent { touch(parent) }
    arrange { _, table in table.move(id, to: parent, isAdopted: isAdopted) }
  }

  /// Remembers the field `id` and its parent as they are, before it is moved.
  func noteMove(of id: FieldID) {
    guard let field = table.fields[id] else { return }
    touch(field)
    if let parent = field.parent { touch(parent) }
    if unpublishedParents[id] == nil { unpublishedParents.updateValue(field.parent, forKey: id) }
  }

  /// What must be published of fields that have moved.
  func publishParents() -> [Change] {
    let moved = unpublishedParents.sorted { $0.key < $1.key }
    unpublishedParents = [:]
    return moved.compactMap { id, before in
      fields[id].flatMap { $0.parent == before ? nil : .parentChanged(id) }
    }
  }
}
