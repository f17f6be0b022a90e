// GTK 4 as Swift imports it.
#pragma once
#include <gtk/gtk.h>
