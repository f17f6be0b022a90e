import FocusKit

// What the articles' views do with their bindings.

/// A button that toggles what its parent has.
struct PlayButton {
  @Binding var isPlaying: Bool
  /// What a child without a binding has.
  let copy: Bool

  init(isPlaying: Binding<Bool>) {
    self._isPlaying = isPlaying
    copy = isPlaying.wrappedValue
  }

  func press() { isPlaying.toggle() }
}

/// A view that hands its binding on to one within it.
struct Panel {
  let button: PlayButton

  init(isPlaying: Binding<Bool>) { button = PlayButton(isPlaying: isPlaying) }
}

/// A slider over an enum.
enum Size: String {
  case small
  case medium
  case large

  var position: Double {
    get {
      switch self {
      case .small: 0.15
      case .medium: 0.5
      case .large: 0.85
      }
    }
    set { self = newValue < 0.25 ? .small : newValue < 0.75 ? .medium : .large }
  }
}

/// The unrelated view: it shows and changes whatever has focus.
struct Toolbar {
  @FocusedBinding(\.number) var number
  @FocusedValue(\.title) var title
  @FocusedValue(\.save) var save
  @FocusedBinding(\.playing) var playing
  @FocusedBinding(\.person) var person
  @FocusedBinding(\.todos) var todos
  @FocusedBinding(\.lamps) var lamps
  @FocusedBinding(\.position) var position
}
