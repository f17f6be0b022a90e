public import DBusTypes
public import FocusContract

/// What a scene of the window bridge is beside a field.
public struct Window: Hashable, Sendable {
  /// The connections whose scenes are in the window, and when it adopted them.
  public internal(set) var adopted: [BusName: UInt64]
  /// When the window came to the front last; 0: never.
  public internal(set) var lastInFront: UInt64

  /// Creates a window.
  public init(adopted: [BusName: UInt64] = [:], lastInFront: UInt64 = 0) {
    (self.adopted, self.lastInFront) = (adopted, lastInFront)
  }
}

/// The windows of the window bridge: which is in front, and whose scenes are in which.
extension FocusModel {
  /// Brings a window to the front; if it is there, no field outside counts any more.
  func bringToFront(_ id: FieldID) {
    guard var window = fields[id]?.window else { return }
    if focus.front != id {
      touch(id)
      window.lastInFront = nextMoment()
      arrange { focus, table in
        table.session.frontChanged(from: focus.front, to: id)
        focus.front = id
        table.set(window, of: id)
      }
      moveHome(window.adopted.keys)
    }
    arrange { focus, _ in focus.outside = nil }
    refocus()
  }

  /// Lets no window be in front; nothing happens if the window `id` is not.
  func sendBehind(_ id: FieldID) {
    guard focus.front == id else { return }
    arrange { focus, table in
      table.session.frontChanged(from: id, to: nil)
      focus.front = nil
      focus.outside = nil
    }
    refocus()
  }

  /// Moves the scenes of these connections into the windows that they are in now.
  func moveHome(_ connections: some Sequence<BusName>) {
    for connection in connections {
      let home = table.home(of: connection)
      // Where one of them is, all are.
      guard let scenes = table.scenes[connection], scenes.first.flatMap({ fields[$0]?.parent }) != home else {
        continue
      }
      for scene in scenes { relocate(scene, to: home, isAdopted: home != nil) }
    }
  }

  /// Sets which connections' scenes are in a window, of which those that are on the bus are given.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`, `invalid` if the field is no window, or for the bridge itself.
  public func adopt(_ connections: Set<BusName>, into id: FieldID, by client: BusName) throws(ModelError) {
    let field = try checkAdoption(into: id, by: client)
    guard !connections.contains(client) else {
      throw .invalid("'owners' lists \(client), the bridge itself, whose scenes are the windows")
    }
    var window = field.window ?? Window()
    let old = window.adopted
    guard Set(old.keys) != connections else { return }
    window.adopted = [:]
    for connection in connections.sorted() { window.adopted[connection] = old[connection] ?? nextMoment() }
    touch(id)
    arrange { _, table in table.set(window, of: id) }
    moveHome(connections.union(old.keys))
    refocus()
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
  public func setWindowBridge(_ owner: BusName?) {
    windowBridge = owner
    let gone = fields.values.filter { $0.window != nil && $0.owner != owner }.map(\.id)
    guard !gone.isEmpty else { return }
    // What has focus in an application keeps it.
    if let id = focus.field, fields[id]?.window == nil { arrange { focus, _ in focus.outside = id } }
    remove(gone)
  }

  /// Moves the field `id` into `parent`, a window if `isAdopted`, or out of all.
  func relocate(_ id: FieldID, to parent: FieldID?, isAdopted: Bool) {
    touch(id)
    arrange { _, table in table.move(id, to: parent, isAdopted: isAdopted) }
  }
}
