import DBusTypes

/// What has been changed, so that it can be saved, or be taken back where it cannot.
extension FocusModel {
  /// What was there when the turn began.
  struct Turn: Sendable {
    /// The fields that the turn has touched as they were before; nil: not there.
    var fields: [FieldID: Field?] = [:]
    var focusedField: FieldID?
    var focusPath: [FieldID] = []
    var history: [FieldID] = []
    var told = Told()
  }

  /// Remembers the field `id` as it is, before it is changed the first time.
  mutating func touch(_ id: FieldID) {
    let field = fields[id]
    if turn.fields[id] == nil { turn.fields.updateValue(field, forKey: id) }
    if unsaved[id] == nil { unsaved.updateValue(field, forKey: id) }
  }

  /// Ends a turn: what it has changed stays, whether it is saved or not.
  public mutating func endTurn() {
    if !turn.fields.isEmpty { turn.fields.removeAll(keepingCapacity: true) }
    turn.focusedField = focusedField
    turn.focusPath = focusPath
    turn.history = history
    turn.told = told
  }

  /// Forgets what was changed since the last save, which has succeeded.
  public mutating func saved() {
    if !unsaved.isEmpty { unsaved.removeAll(keepingCapacity: true) }
  }

  /// Takes back what the turn has changed, since it cannot be saved; only revisions stay used.
  public mutating func rollBack() {
    for (id, field) in turn.fields { fields[id] = field }
    turn.fields = [:]
    focusedField = turn.focusedField
    focusPath = turn.focusPath
    history = turn.history
    told = turn.told
    untold = [:]
    rebuildIndexes()
  }

  /// Makes everything anew that follows from the fields.
  mutating func rebuildIndexes() {
    types = KeyTypes()
    scenes = SceneIndex()
    sceneCommands = SceneIndex()
    allowances = [:]
    fieldsByOwner = [:]
    for (id, field) in fields {
      let scene = scene(of: id)
      if let owner = field.owner { fieldsByOwner[owner, default: []].insert(id) }
      charge(field, fields: 1, bytes: field.bytes)
      for (key, binding) in field.bindings {
        types.add(key, binding.value.type)
        scenes.add(key, of: field, in: scene)
      }
      for key in field.commands.keys { sceneCommands.add(key, of: field, in: scene) }
    }
  }
}
