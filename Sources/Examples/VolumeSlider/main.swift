import FocusKit

// A volume in steps that anything on the desktop can change: a knob, a script, `focusctl set Volume 0.3`.

struct VolumeKey: FocusedValueKey {
  typealias Value = Binding<Double>
  static let name = "demo.Player.Volume"
}

extension FocusedValues {
  var volume: VolumeKey.Value? {
    get { self[VolumeKey.self] }
    set { self[VolumeKey.self] = newValue }
  }
}

/// How many of `count` parts `volume` is; another program may publish any number at all.
func part(_ volume: Double, of count: Int) -> Int {
  guard volume > 0 else { return 0 }
  return Int((min(volume, 1) * Double(count)).rounded())
}

struct Player {
  @State private var steps = 5
  @FocusState private var isFocused: Bool

  var volume: Binding<Double> {
    let steps = _steps
    return Binding(get: { Double(steps.wrappedValue) / 10 }, set: { steps.wrappedValue = part($0, of: 10) })
  }

  func field() -> FocusField {
    defer { isFocused = true }
    return FocusField("player", label: "Player")
      .focusedValue(\.volume, volume) { volume in
        guard (0...1).contains(volume) else { throw FocusError("the volume must be from 0 to 1, not \(volume)") }
      }
      .focused($isFocused)
      .register()
  }
}

let player = Player()
let field = player.field()
try await field.registered()
for await volume in FocusClient.shared.changes(of: \.volume) {
  let filled = part(volume ?? 0, of: 20)
  print(String(repeating: "#", count: filled) + String(repeating: "-", count: 20 - filled), volume ?? "no focus")
}
withExtendedLifetime(field) {}
