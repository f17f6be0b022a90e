import DBusTypes
internal import FocusContract

/// What has been changed, so that it can be saved, or be taken back where it cannot.
extension FocusModel {
  /// What was there when the turn began.
  struct Turn: Sendable {
    /// The fields that the turn has touched as they were before; nil: not there.
    var fields: [FieldID: Field?] = [:]
    /// What bound fields showed whose owners have told of changes since.
    var shown: [FieldID: Shown] = [:]
    var focusedField: FieldID?
    var focusPath: [FieldID] = []
    var history: [FieldID] = []
    var told = Told()
  }

  /// Remembers the field `id` as it is, before it is changed the first time.
  func touch(_ id: FieldID) {
    let field = fields[id]
    if turn.fields[id] == nil { turn.fields.updateValue(field, forKey: id) }
    if unsaved[id] == nil { unsaved.updateValue(field, forKey: id) }
  }

  /// Remembers what an owner told of `field`, which is changed by that and not by the turn.
  func told(of field: Field) {
    guard let began = turn.fields[field.id], var began, began.registration == field.registration else { return }
    began.bindings = began.bindings.filter { !$0.value.isBound }
      .merging(field.bindings.filter { $0.value.isBound }) { stored, _ in stored }
    turn.fields.updateValue(began, forKey: field.id)
  }

  /// Ends a turn: what it has changed stays, whether it is saved or not.
  public func endTurn() {
    if !turn.fields.isEmpty { turn.fields.removeAll(keepingCapacity: true) }
    if !turn.shown.isEmpty { turn.shown.removeAll(keepingCapacity: true) }
    turn.focusedField = focusedField
    turn.focusPath = focusPath
    turn.history = history
    turn.told = told
  }

  /// Forgets what was changed since the last save, which has succeeded.
  public func saved() {
    if !unsaved.isEmpty { unsaved.removeAll(keepingCapacity: true) }
  }

  /// Takes back what the turn has changed, since it cannot be saved; only revisions stay used.
  ///
  /// What owners told of their objects stays: it is never saved, and not for the daemon to take back.
  public func rollBack() {
    for (id, field) in turn.fields { fields[id] = field }
    dropMisfits()
    turn.fields = [:]
    focusedField = turn.focusedField
    focusPath = turn.focusPath
    history = turn.history
    told = turn.told
    untold = turn.shown.filter { fields[$0.key] != nil }
    turn.shown = [:]
    rebuildIndexes()
  }

  /// Has what owners told in the turn be nil where it was told when a key was free for another type, and is no more.
  private func dropMisfits() {
    var types = KeyTypes()
    for (id, field) in fields {
      for (key, binding) in field.bindings where !binding.isBound || turn.shown[id] == nil {
        types.add(key, binding.value.type)
      }
    }
    for id in turn.shown.keys.sorted() {
      let bound = fields[id]?.bindings.filter { $0.value.isBound } ?? [:]
      for (key, binding) in bound.sorted(by: { $0.key < $1.key }) {
        if (try? types.check(binding.value, of: key)) == nil {
          fields[id]?.bindings[key] = nil
        } else {
          types.add(key, binding.value.type)
        }
      }
    }
  }

  /// Makes everything anew that follows from the fields.
  func rebuildIndexes() {
    types = KeyTypes()
    scenes = SceneIndex()
    sceneCommands = SceneIndex()
    sceneInterfaces = SceneIndex()
    allowances = Allowances()
    fieldsByOwner = [:]
    for (id, field) in fields {
      let scene = scene(of: id)
      if let owner = field.owner { fieldsByOwner[owner, default: []].insert(id) }
      charge(field, fields: 1, field.extent)
      for (key, binding) in field.bindings {
        types.add(key, binding.value.type)
        scenes.add(key, of: field, in: scene)
      }
      for key in field.commands.keys { sceneCommands.add(key, of: field, in: scene) }
      for interface in field.object?.interfaces ?? [] { sceneInterfaces.add(interface, of: field, in: scene) }
    }
  }
}
