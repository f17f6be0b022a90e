public import DBusTypes
public import FocusContract

extension FocusModel {
  /// Removes a field; its children move up to its parent.
  /// - Throws: `ModelError`: `noSuchField`, `accessDenied`.
  public func unregister(_ id: FieldID, by client: BusName) throws(ModelError) -> [Change] {
    _ = try field(id, ownedBy: client, to: "unregister")
    return operate { $0.remove([id]) }
  }

  /// Removes the fields of `owner`, who left the bus, and those with objects of it, in one step, but for those that linger.
  public func ownerLeft(_ owner: BusName) -> [Change] {
    let windows = owner == windowBridge ? setWindowBridge(nil) : []
    let ids = fields(endingWith: owner).sorted()
    let adopters = table.windows(of: owner)
    let hasFocused = table.memory.fields[owner] != nil
    guard !ids.isEmpty || !adopters.isEmpty || hasFocused else { return windows }
    return windows
      + operate { operation in
        for id in ids where fields[id]?.lingers == true { operation.disown(id) }
        operation.remove(ids.filter { fields[$0]?.lingers == false })
        if hasFocused { operation.passOnMemory(of: owner) }
        for id in adopters.sorted() { operation.dropAdopted(owner, from: id) }
      }
  }
}
