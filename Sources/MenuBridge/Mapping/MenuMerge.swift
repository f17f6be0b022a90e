/// The items of several sources of one window as one list.
enum MenuMerge {
  private struct Place: Hashable {
    let menus: [String]
    let label: String

    init(_ item: MenuItem) { (menus, label) = (item.menus, item.label) }
  }

  /// The items of each source in turn, without those that one before has; with the accelerators that only one after tells, or
  /// `keys`.
  static func items(_ sources: [[MenuItem]], keys: [MenuItem] = []) -> [MenuItem] {
    let labels = Set(sources.joined().filter { !$0.menus.isEmpty }.map { MenuLabel.plain($0.label) })
    var accelerators: [Place: String] = [:]
    for item in sources.joined() + keys where !item.accelerator.isEmpty && accelerators[Place(item)] == nil {
      accelerators[Place(item)] = item.accelerator
    }
    var list = ItemList()
    var places: Set<Place> = []
    for items in sources {
      var added: [Place] = []
      for item in items {
        let place = Place(item)
        // What is in a menu of another source needs no line without a menu.
        guard !places.contains(place), !item.menus.isEmpty || !labels.contains(MenuLabel.plain(item.label)) else {
          continue
        }
        var item = item
        if item.accelerator.isEmpty { item.accelerator = accelerators[place] ?? "" }
        list.add(item)
        added.append(place)
      }
      places.formUnion(added)
    }
    return list.items
  }
}
