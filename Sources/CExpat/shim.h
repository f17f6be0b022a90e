// libexpat as Swift imports it.
#pragma once
#include <expat.h>
